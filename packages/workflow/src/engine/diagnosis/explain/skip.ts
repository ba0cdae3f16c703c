import { type StepRecord, skipOf } from '../../../adapter/index.ts'
import type { SkipExplanation } from './explanation.ts'

/** Explains why a step was skipped. */
export function explainSkip({ name, branch }: StepRecord): SkipExplanation {
  return { step: name, sentence: `"${name}" was skipped${because(branch)}.` }
}

function because(branch: StepRecord['branch']): string {
  const reason = skipOf(branch)
  switch (reason?.because) {
    case 'when':
      return ': its when() was false'
    case 'case':
      return `: "${reason.choice}" chose ${JSON.stringify(reason.case)}`
    case 'dependency':
      return ` because "${reason.dependency}" was skipped`
    case undefined:
      return ' by an operator'
  }
}
