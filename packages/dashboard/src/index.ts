export type { Capability } from './capability.ts'
export { type DashboardHandler, dashboard } from './dashboard.ts'
export { toNodeHandler } from './node.ts'
export type { Authorized, DashboardOptions, Place } from './options.ts'
