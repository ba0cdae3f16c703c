import type { Adapter } from '@belay/workflow/adapter'
import type { Harness } from './harness.ts'
import type { Scenario } from './scenario/index.ts'

/** Cases by name. A name is the behaviour that must be there. */
export type Cases = Readonly<Record<string, AnyCase>>

export type AnyCase = Case | SecondCase | BesideCase

export type Case = (given: Scenario) => Promise<void>

/** A case that needs two adapters on one store. */
export interface SecondCase {
  readonly withSecond: (given: Scenario, second: Adapter) => Promise<void>
}

export function withSecond(run: SecondCase['withSecond']): SecondCase {
  return { withSecond: run }
}

/** A case in which something else goes on while a transaction is open. */
export interface BesideCase {
  readonly besideTransaction: Case
}

export function besideTransaction(run: Case): BesideCase {
  return { besideTransaction: run }
}

/** Does what a case says. */
export async function perform(body: AnyCase, given: Scenario): Promise<void> {
  if (typeof body === 'function') return body(given)
  if ('besideTransaction' in body) return body.besideTransaction(given)
  return body.withSecond(given, await secondOf(given.harness))
}

function secondOf(harness: Harness): Promise<Adapter> {
  if (harness.second !== undefined) return harness.second()
  throw new Error('This harness has no second(): add it, or set capabilities.secondAdapter to false.')
}
