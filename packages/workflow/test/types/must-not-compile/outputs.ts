import { define, unchecked } from '../../../src/definition/index.ts'

const base = define('w', { version: 1 })

base.step('bigint', { run: () => ({ charge: { amount: 1n } }) })
base.step('symbol', { run: async () => [Symbol.iterator] })
base.step('function', { run: async () => ({ refundable: () => true }) })
base.step('map', { run: () => ({ byId: new Map([['a', 1]]) }) })
base.step('set', { run: () => [1, new Set(['a'])] as const })
base.step('error', { run: () => (Math.random() > 0.5 ? new Error('no') : 'yes') })
base.step('promise', { run: async () => ({ later: Promise.resolve(1) }) })
base.step('class', { run: () => new Money() })
define('w', { version: 1, input: unchecked<{ amounts: bigint[] }>() })

class Money {
  readonly amount = 1
  half(): number {
    return this.amount / 2
  }
}
