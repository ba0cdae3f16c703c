import type { Fault } from './fault.ts'
import { freezeWorker, killTrigger, killWorker } from './kill.ts'
import { holdKey, holdSignal, holdSteps, lockTable } from './lock.ts'
import { NETWORK_FAULTS } from './network.ts'
import { crashServer, freezeServer, restartServer } from './server.ts'
import { changeSetting } from './settings.ts'
import { stickCommits, terminateAtCommit, terminateBackends, terminateRepeatedly } from './terminate.ts'
import { burst, deploy, exhaustPool, prune } from './upkeep.ts'

/** All faults. */
export const FAULTS: readonly Fault[] = [
  killWorker,
  killTrigger,
  freezeWorker,
  crashServer,
  restartServer,
  freezeServer,
  terminateBackends,
  terminateRepeatedly,
  terminateAtCommit,
  stickCommits,
  lockTable,
  holdSteps,
  holdSignal,
  holdKey,
  changeSetting,
  ...NETWORK_FAULTS,
  exhaustPool,
  burst,
  deploy,
  prune,
]
