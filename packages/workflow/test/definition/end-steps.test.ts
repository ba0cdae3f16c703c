import { describe, expect, it } from 'vitest'
import { define } from '../../src/definition/index.ts'
import { diffShapes } from '../../src/graph/index.ts'

const plain = define('order', { version: 3, retry: { attempts: 7 } }).step('work', { run: () => 1 })
const ended = plain
  .onFailed('alarm', { run: () => 1 })
  .finally('audit', { dependsOn: ['alarm'], onSkipped: 'run', timeout: '5s', run: () => 1 })

describe('end steps', () => {
  it('are the steps of another workflow, of the same version and with the same defaults', () => {
    const { name, version, graph, steps, runnable } = ended.followUp!

    expect([name, version, runnable]).toEqual(['order/ended', 3, true])
    expect(graph.names).toEqual(['ended', 'alarm', 'audit'])
    expect(steps[1]!.retry.attempts).toBe(7)
    expect(steps[2]!.timeoutMs).toBe(5_000)
    expect(ended.followUp).toBe(ended.followUp)
    expect(plain.followUp).toBeNull()
  })

  it('run with the ends that they are for', () => {
    const cases = plain
      .onCompleted('a', { run: () => 1 })
      .onFailed('b', { run: () => 1 })
      .onCompensated('c', { run: () => 1 })
      .finally('d', { run: () => 1 })
      .followUp!.record.shape.steps.map(({ name, when }) => [
        name,
        Array.isArray(when) ? when[0].cases : when,
      ])

    expect(Object.fromEntries(cases)).toEqual({
      ended: undefined,
      a: ['completed'],
      b: ['compensated', 'failed'],
      c: ['cancelled_and_compensated', 'compensated'],
      d: undefined,
    })
  })

  it('leave the steps of their workflow as they are, and are part of its shape', () => {
    expect(ended.record.shape).toEqual({ ...plain.record.shape, endSteps: true })
    expect(ended.record.checksum).not.toBe(plain.record.checksum)
    expect(diffShapes(plain.record.shape, ended.record.shape)).toEqual(['+ steps after the end'])
    expect(diffShapes(ended.record.shape, plain.record.shape)).toEqual(['− steps after the end'])
    const [steps] = ended.toMermaid().split('\n  subgraph ')
    expect(steps).toBe(plain.toMermaid().trimEnd())
  })

  it.each([
    ['ended', {}, /an end step cannot have this name/],
    ['alarm', {}, /a step with this name is already defined/],
    [
      'mail',
      { dependsOn: ['work'] },
      /it depends on "work", which is not defined\. .*"alarm"|it depends on "work", which is not defined/,
    ],
    ['mail', { compensate: () => 1 }, /the end step has no option "compensate"/],
    ['mail', { when: () => true }, /the end step has no option "when"/],
    ['mail', { run: 1 }, /run is 1, and must be a function/],
  ])('are refused: %s, %o', (name, options, message) => {
    expect(() => ended.finally(name as 'mail', { run: () => 1, ...options } as never)).toThrow(message)
  })
})
