import crash from './crash.ts?raw'
import undo from './undo.ts?raw'

export interface Preset {
  readonly name: string
  readonly title: string
  /** One sentence that says what to try. */
  readonly try: string
  readonly code: string
}

export const PRESETS: readonly Preset[] = [
  {
    name: 'crash',
    title: 'Crash in a step',
    try: 'Start an order, and crash the worker that charges the card: another one takes over after its lease.',
    code: crash,
  },
  {
    name: 'undo',
    title: 'A step fails, and is undone',
    try: 'Start an order: every other one finds no courier, and what was done is undone in reverse order.',
    code: undo,
  },
]
