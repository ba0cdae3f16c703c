import { crowdSection } from './crowd.ts'
import { defaultsSection } from './defaults.ts'
import { drainSection } from './drain.ts'
import { durabilitySection } from './durability.ts'
import { enqueueSection } from './enqueue.ts'
import { familiesSection } from './families.ts'
import { flatSection } from './flat/flat.ts'
import { idleSection } from './idle.ts'
import { latencySection } from './latency.ts'
import { limitsSection } from './limits.ts'
import { machineSection } from './machine.ts'
import { memorySection } from './memory.ts'
import { peersSection } from './peers.ts'
import { perStepSection } from './per-step.ts'
import { recoverySection } from './recovery.ts'
import { scaleSection } from './scale.ts'
import { schedulesSection } from './schedules.ts'
import type { Section } from './section.ts'
import { sleepingSection } from './sleeping.ts'
import { surfacesSection } from './surfaces.ts'

/** In the order in which they run. */
export const SECTIONS: readonly Section[] = [
  defaultsSection,
  drainSection,
  peersSection,
  enqueueSection,
  latencySection,
  idleSection,
  crowdSection,
  sleepingSection,
  schedulesSection,
  limitsSection,
  recoverySection,
  perStepSection,
  scaleSection,
  memorySection,
  machineSection,
  familiesSection,
  durabilitySection,
  surfacesSection,
  flatSection,
]

/** The sections of a quick look by default: all but the peers, which would have to be installed from the network. */
export const WITHOUT_ASKING: readonly string[] = SECTIONS.filter((section) => section !== peersSection).map(
  ({ name }) => name,
)
