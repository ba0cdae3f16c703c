import type { Hint, Store } from '@belay/workflow/store'
import type { Wakeup } from '../store/wakeup.ts'

/** A worker’s mail is told as a definition that none has: numbers of definitions are lower than this. */
const WORKERS_FROM = 2 ** 31

/** Hints over the channel of today: of definitions, or of workers. */
export function hintsOver(wakeup: Wakeup): Pick<Store, 'hint' | 'onHint'> {
  return {
    hint(hint) {
      if ('worker' in hint) wakeup.wake([WORKERS_FROM + hint.worker])
      else wakeup.wake(hint.definitions.length === 0 ? undefined : hint.definitions)
    },
    onHint: (listener) =>
      wakeup.onWake((hint) => {
        const numbers = hint?.definitionIds ?? []
        const definitions = numbers.filter((number) => number < WORKERS_FROM)
        const told: Hint[] = numbers
          .filter((number) => number >= WORKERS_FROM)
          .map((number) => ({ worker: number - WORKERS_FROM }))
        if (definitions.length > 0 || told.length === 0) told.push({ definitions })
        for (const each of told) listener(each)
      }),
  }
}
