import { type StepRecord, skipOf } from '../../../adapter/index.ts'
import { limitReached } from '../../../cause.ts'
import type { Quote } from '../quote.ts'
import type { SkipExplanation } from './explanation.ts'
import { lastError } from './forward.ts'

/** Explains why a step was skipped. */
export function explainSkip({ name, branch }: StepRecord): SkipExplanation {
  return { step: name, sentence: `"${name}" was skipped${because(branch)}.` }
}

/** Explains how a step failed past whose failure its run continued. */
export function explainFailure({ name, error }: StepRecord, quote: Quote): SkipExplanation {
  const { told } = lastError(quote, name, error)
  return { step: name, sentence: `"${name}" failed${told}, and the run continued.` }
}

function because(branch: StepRecord['branch']): string {
  const reason = skipOf(branch)
  switch (reason?.because) {
    case 'when':
      return ': its when() was false'
    case 'case':
      return `: "${reason.choice}" chose ${JSON.stringify(reason.case)}`
    case 'outcome':
      return ` because "${reason.dependency}" ${reason.outcome}`
    case 'dependency':
      return ` because "${reason.dependency}" was skipped`
    case 'limit':
      return `: ${limitReached(reason)}`
    case undefined:
      return ' by an operator'
  }
}
