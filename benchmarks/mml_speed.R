# Seconds, and root mean squared errors of a and b, of R packages on the tables that
# `python benchmarks/mml_speed.py --models 1pl,2pl,3pl --save DIR` writes:
#   Rscript benchmarks/mml_speed.R DIR
# mirt and TAM: marginal maximum likelihood. eRm and psychotools (1PL): conditional maximum likelihood. psych (2PL): factor
# analysis of tetrachoric correlations. A package that is not installed, or takes more than LIMIT processor seconds, is skipped with
# a note. Difficulties of 1PL are compared in logits, centred, since conditional likelihood knows no scale of ability.
folder <- commandArgs(trailingOnly = TRUE)[1]
LIMIT <- 120
rmse <- function(found, truth) sprintf("%.3f", sqrt(mean((found - truth)^2)))
centred <- function(x) x - mean(x)

fits <- list(
  mirt = function(answers, kind) {
    n <- ncol(answers)
    # Priors for 3PL as in the Python script: without them its maximum often does not exist.
    model <- if (kind == "3PL") mirt::mirt.model(sprintf(
      "F = 1-%d\nPRIOR = (1-%d, a1, lnorm, 0, 0.5), (1-%d, g, norm, -1.1, 0.5)", n, n, n)) else 1
    type <- if (kind == "1PL") "Rasch" else kind
    found <- mirt::mirt(answers, model, itemtype = type, verbose = FALSE)
    items <- mirt::coef(found, simplify = TRUE, IRTpars = TRUE)$items
    list(a = items[, "a"], b = items[, "b"])
  },
  TAM = function(answers, kind) {
    found <- switch(kind,
      "1PL" = TAM::tam.mml(answers, verbose = FALSE),
      "2PL" = TAM::tam.mml.2pl(answers, irtmodel = "2PL", verbose = FALSE),
      "3PL" = TAM::tam.mml.3pl(answers, est.guess = seq_len(ncol(answers)), verbose = FALSE))
    list(a = found$B[, 2, 1], b = found$xsi$xsi / found$B[, 2, 1])
  },
  eRm = function(answers, kind) list(b = -eRm::RM(answers)$betapar),
  psychotools = function(answers, kind) {
    found <- psychotools::raschmodel(as.matrix(answers))
    list(b = unclass(psychotools::itempar(found))[seq_len(ncol(answers))])
  },
  psych = function(answers, kind) {
    found <- psych::irt.fa(answers, plot = FALSE)$irt
    a <- found$discrimination[, 1]
    list(a = 1.702 * a, b = found$difficulty[[1]] / a)
  })
serves <- list(mirt = c("1PL", "2PL", "3PL"), TAM = c("1PL", "2PL", "3PL"), eRm = "1PL", psychotools = "1PL", psych = "2PL")

said <- function(fit, answers, truth, kind) tryCatch({
  setTimeLimit(cpu = LIMIT, transient = TRUE)
  clock <- system.time(found <- suppressWarnings(suppressMessages(fit(answers, kind))))
  setTimeLimit()
  errors <- if (kind == "1PL") c("-", rmse(centred(found$b), centred(truth[, 1] * truth[, 2])))
            else c(rmse(found$a, truth[, 1]), rmse(found$b, truth[, 2]))
  sprintf("%9.3f %9.3f   %s", clock[["elapsed"]], sum(clock[c(1, 2, 4, 5)]), paste(errors, collapse = " / "))
}, error = function(problem) paste("   failed:", substr(conditionMessage(problem), 1, 80)))

cat(sprintf("%14s %12s %9s %9s   %s\n", "table", "tool", "wall s", "process s", "rmse a / b"))
for (path in list.files(folder, pattern = "^[123]pl_.*\\.csv$", full.names = TRUE)) {
  name <- sub("\\.csv$", "", basename(path))
  kind <- toupper(substr(name, 1, 3))
  answers <- read.csv(path, header = FALSE)
  truth <- as.matrix(read.table(file.path(folder, paste0(name, "_items.txt"))))
  for (tool in names(fits)) if (kind %in% serves[[tool]]) {
    line <- if (requireNamespace(tool, quietly = TRUE)) said(fits[[tool]], answers, truth, kind) else "   not installed"
    cat(sprintf("%14s %12s %s\n", name, tool, line))
  }
}
