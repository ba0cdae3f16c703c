import type { RunStatus, StepStatus } from '@belay/workflow/adapter'

export type Shown = RunStatus | StepStatus | 'needs you' | 'not yet its turn'

type Colour = 'green' | 'blue' | 'yellow' | 'red' | 'gray'

interface Shape {
  readonly shape: string
  readonly ascii: string
  readonly colour: Colour
}

/**
 * A filled circle is work done, an empty square is work undone; play, skip, rewind. Each is one column wide in WGL4, which every terminal font has,
 * and always stands beside its word.
 */
export const SHAPES: Readonly<Record<Shown, Shape>> = {
  pending: { shape: '·', ascii: '.', colour: 'gray' },
  ready: { shape: '○', ascii: 'o', colour: 'blue' },
  scheduled: { shape: '○', ascii: 'o', colour: 'blue' },
  running: { shape: '►', ascii: '>', colour: 'blue' },
  waiting: { shape: '◊', ascii: '~', colour: 'blue' },
  completed: { shape: '●', ascii: '*', colour: 'green' },
  paused: { shape: '║', ascii: '=', colour: 'yellow' },
  failed: { shape: '×', ascii: 'x', colour: 'red' },
  cancelled: { shape: '/', ascii: '/', colour: 'gray' },
  compensating: { shape: '◄', ascii: '<', colour: 'yellow' },
  'not yet its turn': { shape: '‹', ascii: '<', colour: 'yellow' },
  compensated: { shape: '□', ascii: 'u', colour: 'yellow' },
  compensation_failed: { shape: '!', ascii: '!', colour: 'red' },
  parked: { shape: '!', ascii: '!', colour: 'red' },
  'needs you': { shape: '!', ascii: '!', colour: 'red' },
  skipped: { shape: '»', ascii: '^', colour: 'gray' },
}
