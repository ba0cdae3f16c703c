import type { Logger } from '../../logger.ts'
import type { AttemptPayloadsParts } from './attempt-payloads.ts'
import type { WaitParts } from './child-runs.ts'
import type { AroundParts } from './surrounded-handler.ts'
import type { TellingParts } from './telling.ts'

/** What all attempts of a session share. */
export interface AttemptParts<Attempt> extends AttemptPayloadsParts, WaitParts {
  readonly payloadMaxBytes: number
  readonly log: Logger
  /** The handler is about to be called. */
  readonly onCall: (attempt: Attempt) => void
  /** The handler ended after its attempt had timed out. */
  readonly onLateResult: (attempt: Attempt) => void
  readonly telling: TellingParts
  /** Undefined without hooks. */
  readonly around: AroundParts | undefined
}
