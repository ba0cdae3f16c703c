import type { OwnerCases } from './case.ts'
import { families } from './families.ts'
import { lostAnswers } from './lost-answers.ts'
import { operators } from './operators.ts'
import { refused } from './refused.ts'
import { takeover } from './takeover.ts'
import { waits } from './waits.ts'
import { work } from './work.ts'

/** What owners must do, by room. */
export const ownerCases: Readonly<Record<string, OwnerCases>> = {
  work,
  waits,
  'lost answers': lostAnswers,
  refused,
  takeover,
  operators,
  families,
}
