/** What is done to runs. */
interface Deed {
  readonly verb:
    | ('cancel' | 'pause' | 'resume' | 'retry' | 'move' | 'setPriority')
    | ('retryCompensation' | 'skipCompensation')
  /** Of an undo; undefined: each that is parked. */
  readonly step?: string | undefined
  readonly priority?: number | undefined
  /** Of a move. */
  readonly version?: number | undefined
}

/** After "were" and "would be": `paused`, `marked as undone at chargeCard`. */
export function participleOf({ verb, step, priority, version }: Deed): string {
  switch (verb) {
    case 'cancel':
      return 'cancelled'
    case 'pause':
      return 'paused'
    case 'resume':
      return 'resumed'
    case 'retry':
      return 'retried'
    case 'retryCompensation':
      return step === undefined ? 'told to undo again' : `told to undo ${step} again`
    case 'skipCompensation':
      return step === undefined ? 'marked as undone' : `marked as undone at ${step}`
    case 'setPriority':
      return `given priority ${priority}`
    case 'move':
      return `moved to v${version}`
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
