"""Passages and answers graded by models: prompts, replies, verification, readers, a judge of free-text answers."""

from grading.graders._answer_judge import AnswerJudge, GivenAnswer, judge_name

__all__ = ["AnswerJudge", "GivenAnswer", "judge_name"]
