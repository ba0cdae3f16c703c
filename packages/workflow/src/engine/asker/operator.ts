import type { Asker } from '../../owner/index.ts'
import { causeText, childError, errorOf, stored } from './errors.ts'

/** An operator’s process has no code. It says what the machine has decided, and leaves all that asks to a worker. */
export const OPERATOR: Asker = {
  ask: none,
  killsMax: () => Number.POSITIVE_INFINITY,
  unstorable: none,
  errorOf: (owned, unit, word) => stored(errorOf({ owned, unit }, word), false),
  childError: (owned, unit, child) => stored(childError({ owned, unit }, child), false),
  causeOf: causeText,
}

function none(): never {
  throw new Error('An operator’s process was asked for the code of a definition.')
}
