import { define } from '@belay/workflow'
import { describe, expect, test } from 'vitest'
import { assertRollback, checkRollback } from '../../src/index.ts'

/** Its effect stays, whatever fails after it. */
function careless(act: () => unknown) {
  return define('careless', { version: 1 })
    .step('act', {
      run: () => {
        act()
      },
      compensate: () => {},
    })
    .step('next', { dependsOn: ['act'], run: () => 1 })
}

class Ledger {
  #total = 0
  add() {
    this.#total += 1
  }
}

class Account {
  owner = { name: 'kim' }
  balance = 0
}

class Money {
  #cents = 0
  add() {
    this.#cents += 1
  }
  toJSON() {
    return { cents: this.#cents }
  }
}

const cyclic: { itself?: unknown } = {}
cyclic.itself = cyclic

describe('a world that cannot be compared is refused, with the path and the remedy', () => {
  test.each<[string, unknown, RegExp]>([
    [
      'private fields',
      { books: [new Ledger()] },
      /at books\[0\], an instance of class Ledger, which has private fields/,
    ],
    ['a function', { read: () => 1 }, /at read, a function/],
    ['a weak map', { known: new WeakMap() }, /at known, a WeakMap, whose state cannot be read/],
    ['a promise', Promise.resolve([1]).then, /returned a function/],
    ['a promise in it', { later: Promise.resolve(1) }, /at later, a Promise/],
    ['a symbol', [Symbol('s')], /at \[0\], a symbol/],
    ['a cycle', { cyclic }, /at cyclic\.itself, an object that contains itself/],
    ['private fields in a map', new Map([['a', new Ledger()]]), /at a, an instance of class Ledger/],
    ['private fields in a set', new Set([new Ledger()]), /at \[\], an instance of class Ledger/],
  ])('%s', async (_what, world, expected) => {
    const refused = await checkRollback(
      careless(() => {}),
      { effects: () => world },
    ).catch((error) => error)

    expect(refused).toMatchObject({ code: 'invalid_option', message: expect.stringMatching(expected) })
    expect(refused.message).toContain('Let effects() return plain data')
  })
})

describe('an effect that stays is found', () => {
  const found = <World>(make: () => World, act: (world: World) => unknown) => ({ make, act }) as Changed
  test.each<[string, Changed, string]>([
    [
      'in an instance with public fields',
      found(
        () => new Account(),
        (account) => Object.assign(account, { balance: 5 }),
      ),
      'balance: 0 → 5',
    ],
    [
      'in what says it with toJSON()',
      found(
        () => new Money(),
        (money) => money.add(),
      ),
      'cents: 0 → 1',
    ],
    [
      'in a map under keys that look alike',
      found(
        () => new Map<unknown, number>([[1, 0]]),
        (map) => map.set('1', 2),
      ),
      'the whole: {"1":0} → ',
    ],
    [
      'in bytes',
      found(
        () => new Uint8Array(1),
        (bytes) => bytes.fill(7),
      ),
      '[0]: 0 → 7',
    ],
    [
      'in a big integer',
      found(
        () => ({ big: 1n }),
        (world) => Object.assign(world, { big: 2n }),
      ),
      'big: 1n → 2n',
    ],
    [
      'as no number',
      found(
        () => ({ plain: 1 }),
        (world) => Object.assign(world, { plain: Number.NaN }),
      ),
      'plain: 1 → NaN',
    ],
  ])('%s', async (_where, { make, act }, expected) => {
    let world: unknown
    const reset = () => {
      world = make()
    }

    const report = await checkRollback(
      careless(() => act(world)),
      { effects: () => world, reset },
    )

    expect(report.ok).toBe(false)
    expect(report.runs.flatMap(({ leftBehind }) => leftBehind).join('\n')).toContain(expected)
  })
})

interface Changed {
  readonly make: () => unknown
  readonly act: (world: unknown) => unknown
}

describe('no effect that stays is', () => {
  test('-0 instead of 0, nor another order of a set', async () => {
    const world = { balance: 0, names: new Set(['a', 'b']) }
    const act = () => {
      world.balance = -0
      world.names.delete('a')
      world.names.add('a')
    }

    await assertRollback(careless(act), { effects: () => world })
  })

  test('what an end step does', async () => {
    const mails: string[] = []
    const order = define('order', { version: 1 })
      .step('charge', { run: () => 'paid', compensate: () => {} })
      .step('ship', { dependsOn: ['charge'], run: () => 'shipped' })
      .onCompensated('tell', { run: () => void mails.push('sorry') })
      .onFailed('tellToo', { run: () => void mails.push('failed') })

    const report = await assertRollback(order, { effects: () => mails })

    expect(report.runs.map(({ leftBehind }) => leftBehind)).toEqual([[], [], [], []])
    expect(mails).toEqual([])
  })
})

test('a transactional step that uses a database says what to do without one', async () => {
  const order = define('order', { version: 1 }).step('pay', {
    transaction: true,
    retry: { attempts: 1 },
    run: ({ tx }) => void (tx as { drizzle: { update(table: object): unknown } }).drizzle.update({}),
  })

  await expect(checkRollback(order)).rejects.toThrow(
    /tx\.drizzle\.update was used in a transaction of memory\(\), which has no SQL database\. In .*replace the handler with stub/,
  )
})
