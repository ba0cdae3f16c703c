import type { ActionRequest } from '../../../src/api.ts'

export interface VerbWords {
  /** On the button, before the dots. */
  readonly button: string
  /** The title of the dialog; the step's name follows. */
  readonly title: string
  /** On the button that does it. */
  readonly go: string
  /** What the dialog asks for besides a reason. */
  readonly asks?: 'payload' | 'output' | 'priority'
  /** Nothing keeps a reason. */
  readonly noReason?: true
  /** What a reason is here. */
  readonly reason?: string
}

const COMMENT = 'Comment, kept with the decision'

export const VERBS: Readonly<Record<ActionRequest['verb'], VerbWords>> = {
  cancel: { button: 'Cancel', title: 'Cancel the run', go: 'Cancel it' },
  pause: { button: 'Pause', title: 'Pause the run', go: 'Pause it' },
  resume: { button: 'Resume', title: 'Resume the run', go: 'Resume it' },
  retry: { button: 'Retry', title: 'Send the run forward again', go: 'Retry it' },
  retryStep: { button: 'Retry the step', title: 'Retry the step', go: 'Retry it' },
  skipStep: { button: 'Skip the step', title: 'Skip the step', go: 'Skip it', asks: 'output' },
  retryCompensation: { button: 'Retry the undo', title: 'Retry the undo of', go: 'Retry it' },
  skipCompensation: { button: 'Mark as undone', title: 'Mark as undone', go: 'Mark as undone' },
  signal: {
    button: 'Send the signal',
    title: 'Send the signal',
    go: 'Send it',
    asks: 'payload',
    noReason: true,
  },
  approve: { button: 'Approve', title: 'Approve', go: 'Approve', asks: 'payload', reason: COMMENT },
  reject: { button: 'Reject', title: 'Reject', go: 'Reject', reason: COMMENT },
  setPriority: {
    button: 'Change the priority',
    title: 'Change the priority',
    go: 'Change it',
    asks: 'priority',
  },
}
