/** What is done to runs, as participles say it. */
export type Deed =
  | { readonly verb: 'cancel' | 'pause' | 'resume' | 'retry' }
  /** `step` undefined: each that is parked. */
  | { readonly verb: 'retryCompensation' | 'skipCompensation'; readonly step?: string | undefined }
  | { readonly verb: 'setPriority'; readonly priority: number }
  | { readonly verb: 'move'; readonly version: number }

/** After "were" and "would be": `paused`, `marked as undone at chargeCard`. */
export function participleOf(deed: Deed): string {
  switch (deed.verb) {
    case 'cancel':
      return 'cancelled'
    case 'pause':
      return 'paused'
    case 'resume':
      return 'resumed'
    case 'retry':
      return 'retried'
    case 'retryCompensation':
      return deed.step === undefined ? 'told to undo again' : `told to undo ${deed.step} again`
    case 'skipCompensation':
      return deed.step === undefined ? 'marked as undone' : `marked as undone at ${deed.step}`
    case 'setPriority':
      return `given priority ${deed.priority}`
    case 'move':
      return `moved to v${deed.version}`
  }
}

/** An action of a run's history as people say it: `skip_compensation` is `mark as undone`. */
export function actionText(action: string): string {
  return ACTIONS[action] ?? action.replaceAll('_', ' ')
}

const ACTIONS: Readonly<Record<string, string>> = {
  retry_compensation: 'retry the undo',
  skip_compensation: 'mark as undone',
}
