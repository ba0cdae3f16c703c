import type { Adapter } from '@belay/workflow/adapter'
import type { Scenario } from './scenario/index.ts'

/** Cases by name. A name states the required behaviour. */
export type Cases = Readonly<Record<string, Case | SecondCase | BesideCase>>

export type Case = (given: Scenario) => Promise<void>

/** A case that needs two adapters on one store. */
export interface SecondCase {
  readonly withSecond: (given: Scenario, second: Adapter) => Promise<void>
}

export function withSecond(run: SecondCase['withSecond']): SecondCase {
  return { withSecond: run }
}

/** A case that does something else while a transaction is open. */
export interface BesideCase {
  readonly besideTransaction: Case
}

export function besideTransaction(run: Case): BesideCase {
  return { besideTransaction: run }
}
