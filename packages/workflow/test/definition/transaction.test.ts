import { describe, expect, it } from 'vitest'
import { define, defineGraph } from '../../src/definition/index.ts'

const empty = define('w', { version: 1 })
const run = () => {}

describe('a transactional step', () => {
  it('is read committed by default', () => {
    const { steps } = empty
      .step('a', { run, transaction: true })
      .step('b', { run, transaction: {}, compensate: { run, transaction: { isolation: 'serializable' } } })
      .step('c', { run, transaction: { isolation: 'repeatable read' }, compensate: run })
      .step('d', { run, transaction: false, compensate: { run, transaction: false } })

    expect(steps.map(({ transaction }) => transaction?.isolation)).toEqual([
      'read committed',
      'read committed',
      'repeatable read',
      undefined,
    ])
    expect(steps.map(({ compensation }) => compensation?.transaction?.isolation)).toEqual([
      undefined,
      'serializable',
      undefined,
      undefined,
    ])
  })

  it('has the shape of any other: a version may become transactional', () => {
    const plain = empty.step('a', { run })
    const transactional = empty.step('a', { run, transaction: true })
    expect(transactional.record).toEqual(plain.record)
  })

  it('can be written as data', () => {
    const graph = {
      steps: { a: { handler: 'run', transaction: true, compensate: { handler: 'run', transaction: {} } } },
      dag: {},
    } as const
    const { steps } = defineGraph('w', graph, { run })
    expect(steps[0]).toMatchObject({
      transaction: { isolation: 'read committed' },
      compensation: { transaction: { isolation: 'read committed' } },
    })
  })

  it.each([
    ['yes', /transaction is "yes", and must be true, false or an object with isolation/],
    [7, /transaction is 7/],
    [{ isolation: 'snapshot' }, /isolation is "snapshot", and must be one of 'read committed'/],
    [{ isolation: 'serialisable' }, /Did you mean "serializable"/],
    [{ level: 1 }, /transaction has no option "level"/],
    [null, /transaction is null/],
  ])('is refused with %j', (transaction, message) => {
    const options = { run, transaction: transaction as never }
    expect(() => empty.step('a', options)).toThrow(message)
    expect(() => empty.step('a', { run, compensate: options })).toThrow(message)
    expect(() =>
      defineGraph(
        'w',
        { steps: { a: { handler: 'run', transaction: transaction as never } }, dag: {} },
        { run },
      ),
    ).toThrow(message)
  })
})
