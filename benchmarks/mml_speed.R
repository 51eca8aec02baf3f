# Seconds of mirt and TAM on the tables written by `python benchmarks/mml_speed.py --save DIR`:
#   Rscript benchmarks/mml_speed.R DIR
# A package that is not installed is skipped with a note.
folder <- commandArgs(trailingOnly = TRUE)[1]
seconds <- function(expression) tryCatch(
  sprintf("%9.3f", system.time(eval(expression))[["elapsed"]]),
  error = function(problem) paste("   failed:", conditionMessage(problem)))
cat(sprintf("%20s %6s %s\n", "table", "tool", "  seconds"))
for (path in list.files(folder, pattern = "^[23]pl_.*\\.csv$", full.names = TRUE)) {
  name <- sub("\\.csv$", "", basename(path))
  kind <- toupper(substr(name, 1, 3))
  answers <- read.csv(path, header = FALSE)
  if (requireNamespace("mirt", quietly = TRUE)) {
    # Priors for 3PL as in the Python script: without them its maximum often does not exist.
    model <- if (kind == "3PL") mirt::mirt.model(sprintf(
      "F = 1-%d\nPRIOR = (1-%d, a1, lnorm, 0, 0.5), (1-%d, g, norm, -1.1, 0.5)",
      ncol(answers), ncol(answers), ncol(answers))) else 1
    cat(sprintf("%20s %6s %s\n", name, "mirt",
                seconds(quote(mirt::mirt(answers, model, itemtype = kind, verbose = FALSE)))))
  } else cat(sprintf("%20s %6s    not installed\n", name, "mirt"))
  if (requireNamespace("TAM", quietly = TRUE)) {
    cat(sprintf("%20s %6s %s\n", name, "TAM", seconds(if (kind == "2PL") quote(
      TAM::tam.mml.2pl(answers, irtmodel = "2PL", verbose = FALSE)) else quote(
      TAM::tam.mml.3pl(answers, est.guess = seq_len(ncol(answers)), verbose = FALSE)))))
  } else cat(sprintf("%20s %6s    not installed\n", name, "TAM"))
}
