export { type SimulationOptions, type SimulationReport, simulate } from './world.ts'
