import { type StepRecord, skipOf } from '../../../adapter/index.ts'
import { limitReached, type SerialisedError } from '../../../cause.ts'
import { sentence } from '../../../words.ts'
import type { SkipExplanation } from './explanation.ts'

/** Explains why a step was skipped. */
export function explainSkip({ name, branch }: StepRecord): SkipExplanation {
  return { step: name, sentence: `"${name}" was skipped${because(branch)}.` }
}

/** Explains how a step failed past whose failure its run continued. */
export function explainFailure({ name, error }: StepRecord): SkipExplanation {
  const { message } = JSON.parse(error!) as SerialisedError
  return { step: name, sentence: sentence(`"${name}" failed, and the run continued: ${message}`) }
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
