# The crossed model by lme4's glmer (Laplace): Rscript benchmarks/lme4.R ANSWERS.csv RESULT.csv FACET,FACET,...
# ANSWERS.csv has student, item, score and the facets; RESULT.csv gets quantity, estimate, se (empty for standard
# deviations), and as quantity "seconds" the processor time of the fit. Facets are fixed effects, zero-sum.
suppressPackageStartupMessages(library(lme4))
given <- commandArgs(trailingOnly = TRUE)
facets <- strsplit(given[3], ",")[[1]]
answers <- read.csv(given[1], colClasses = "character")
answers$score <- as.integer(answers$score)
for (name in c("student", "item", facets)) answers[[name]] <- factor(answers[[name]], unique(answers[[name]]))
for (name in facets) contrasts(answers[[name]]) <- contr.sum(nlevels(answers[[name]]))
crossed <- paste(c("(1 | student)", "(1 | item)", sprintf("(1 | item:%s)", facets)), collapse = " + ")
model <- as.formula(paste("score ~", paste(facets, collapse = " + "), "+", crossed))
clock <- system.time(fit <- suppressMessages(suppressWarnings(
  glmer(model, answers, binomial, nAGQ = 1, control = glmerControl(optimizer = "bobyqa", optCtrl = list(maxfun = 1e5))))))
rows <- list(data.frame(quantity = "seconds", estimate = sum(clock[c(1, 2, 4, 5)]), se = NA))
sds <- as.data.frame(VarCorr(fit))
names <- c(student = "residual", item = "item", setNames(paste("item x", facets), paste0("item:", facets)))
rows <- c(rows, list(data.frame(quantity = paste("sd", names[sds$grp]), estimate = sds$sdcor, se = NA)))
beta <- fixef(fit)
covariance <- as.matrix(vcov(fit))
for (name in facets) {
  own <- which(attr(model.matrix(fit), "assign") == match(name, facets))
  levels <- levels(answers[[name]])
  weights <- contr.sum(length(levels))
  for (pair in combn(length(levels), 2, simplify = FALSE)) {
    w <- weights[pair[1], ] - weights[pair[2], ]
    rows <- c(rows, list(data.frame(
      quantity = paste0(name, ": ", levels[pair[1]], " - ", levels[pair[2]]),
      estimate = sum(w * beta[own]), se = sqrt(drop(w %*% covariance[own, own] %*% w)))))
  }
}
write.csv(do.call(rbind, rows), given[2], row.names = FALSE)
