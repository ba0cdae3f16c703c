import type { Happening, RunView } from './run-view.ts'
import type { Screen } from './screen.ts'

/** A run as lines of text, for output that is no terminal. */
export class PlainLines {
  readonly #screen: Screen

  constructor(screen: Screen) {
    this.#screen = screen
  }

  show(_view: RunView, happening: Happening): void {
    const line = plainLine(happening)
    if (line !== undefined) this.#screen.print(line)
  }

  end(): void {}
}

/** An event as one line of text; undefined for events that don't interest a reader. */
function plainLine(happening: Happening): string | undefined {
  const text = describe(happening)
  return text === undefined ? undefined : `  ${(happening.atMs / 1000).toFixed(2).padStart(6)} s  ${text}`
}

function describe({ name, event }: Happening): string | undefined {
  switch (name) {
    case 'step.started':
      return `${event.step}: ${event.direction === 'undo' ? 'undo started' : 'started'}${ordinal(event.attempt)}`
    case 'step.completed':
      return `${event.step}: completed after ${ms(event.durationMs)}${ordinal(event.attempt)}`
    case 'step.compensated':
      return `${event.step}: undone after ${ms(event.durationMs)}${ordinal(event.attempt)}`
    case 'step.retrying':
      // Its handler reacted to its signal: a run that will be undone has no next attempt.
      if (event.error.code === 'run_stopping') return `${event.step}: stopped, not done`
      return `${event.step}: attempt ${event.attempt} failed (${event.error.message}); next one in ${ms(event.delayMs)}`
    case 'step.failed':
      return `${event.step}: failed for good after attempt ${event.attempt} (${event.error.message})`
    case 'step.compensation_failed':
      return `${event.step}: undo failed for good after attempt ${event.attempt} (${event.error.message})`
    case 'step.released':
      return `${event.step}: stopped, not done`
    case 'step.discarded':
      return `${event.step}: late result discarded`
    case 'step.recovered':
      return `${event.step}: recovered from a worker that died`
    case 'run.compensating':
      return 'run: stopped; completed steps will be undone'
    case 'run.completed':
    case 'run.failed':
    case 'run.compensated':
    case 'run.cancelled':
    case 'run.compensation_failed':
      return `run: ${event.status}`
    case 'store.unavailable':
      return `database: ${event.message}`
    default:
      return undefined
  }
}

function ordinal(attempt: number): string {
  return attempt === 1 ? '' : `, attempt ${attempt}`
}

function ms(durationMs: number): string {
  return `${Math.round(durationMs)} ms`
}
