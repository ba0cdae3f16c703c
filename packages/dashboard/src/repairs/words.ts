import type { RepairRequest } from '../api/many.ts'

/** After "were" and "would be". */
export function participleOf({ verb, step, priority, version }: RepairRequest): string {
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
      return `told to undo ${step} again`
    case 'skipCompensation':
      return `marked as undone at ${step}`
    case 'setPriority':
      return `given priority ${priority}`
    case 'move':
      return `moved to v${version}`
  }
}

const FIGURES = new Intl.NumberFormat('en')

export function figure(count: number): string {
  return FIGURES.format(count)
}

export function runs(count: number): string {
  return `${figure(count)} run${count === 1 ? '' : 's'}`
}
