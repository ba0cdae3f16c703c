import type { LimitVerbs } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import { declareLimits } from './declare-limits.ts'
import { findOlderRuns } from './find-older-runs.ts'
import { pushBackLimits } from './push-back-limits.ts'
import { readLimitCircles } from './read-limit-circles.ts'
import { readLimitLines } from './read-limit-lines.ts'
import { readLimitWaits } from './read-limit-waits.ts'
import { readLimits } from './read-limits.ts'
import { setLimit } from './set-limit.ts'
import { tendLimits } from './tend-limits.ts'

/** The verbs of limits over a connection. */
export function limitVerbs(connection: Connection) {
  return {
    declareLimits: (limits) => declareLimits(connection, limits),
    setLimit: (request) => setLimit(connection, request),
    readLimits: (names) => readLimits(connection, names),
    readLimitLines: (request) => readLimitLines(connection, request),
    readLimitCircles: (request) => readLimitCircles(connection, request),
    readLimitWaits: (runId) => readLimitWaits(connection, runId),
    pushBackLimits: (request) => pushBackLimits(connection, request),
    findOlderRuns: (request) => findOlderRuns(connection, request),
    tendLimits: (request) => tendLimits(connection, request),
  } satisfies LimitVerbs
}
