import { type Clock, having, type OptionTable, type Refusal } from '@belay/workflow/adapter'

const CLOCK = having<Clock>("a clock with now and after, like a VirtualClock, or 'real'", ['now', 'after'])

/** What `memory()` takes. */
export const OPTIONS = {
  clock: {
    sets: "the store's time and the engine's",
    takes: {
      words: CLOCK.words,
      read: (given): Clock | 'real' | Refusal => (given === 'real' ? 'real' : CLOCK.read(given)),
    },
  },
} satisfies OptionTable
