export { verbsOf } from './calls.ts'
export type { SimulationOptions } from './stage.ts'
export { memoryStore, type OpenStore, type SimulatedStore, type Written } from './store.ts'
export { type SimulationReport, simulate } from './world.ts'
