import { createEngine, define, PermanentError, type WorkflowDefinition } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { assertInvariants, memory } from '../../src/index.ts'

/** Starts a run of the workflow on an engine that works. */
async function start(workflow: WorkflowDefinition, input?: unknown) {
  const adapter = memory()
  const engine = createEngine({ adapter, workflows: [workflow] })
  await engine.start()
  const run = await engine.run(workflow as never, input as never)
  return {
    run,
    /** The outputs, or the message of the error. */
    async over(): Promise<unknown> {
      const result = run.result()
      await adapter.clock.runUntil(result.then(String, String))
      assertInvariants(adapter.dump())
      return result.then(
        (outputs) => outputs,
        (error: Error) => error.message,
      )
    },
    async statuses() {
      const { steps } = (await engine.runs.get(run.id))!
      return Object.fromEntries(steps.map(({ name, status }) => [name, status]))
    },
    /** Lets time pass. */
    after: (ms: number) =>
      adapter.clock.runUntil(new Promise<void>((resolve) => void adapter.clock.after(ms, resolve))),
    close: () => adapter.clock.runUntil(engine.close()),
  }
}

describe('a map with a condition', () => {
  const conditional = (onSkipped: 'skip' | 'run') =>
    define('conditional', { version: 1 })
      .step('ask', { run: ({ input }) => input as boolean })
      .map('each', {
        dependsOn: ['ask'],
        when: ({ deps }) => deps.ask,
        over: () => ['a', 'b'],
        run: ({ item }) => item,
      })
      .map('again', {
        dependsOn: ['each'],
        onSkipped,
        over: ({ deps }) => deps.each ?? ['none'],
        run: ({ item }) => `${item}!`,
      })

  it.each(['skip', 'run'] as const)(
    'runs if its when says so, and so does a map over its output (%s)',
    async (onSkipped) => {
      const { over, close } = await start(conditional(onSkipped), true)
      expect(await over()).toEqual({ ask: true, each: ['a', 'b'], again: ['a!', 'b!'] })
      await close()
    },
  )

  it('is skipped with its join, and adds no items', async () => {
    const { over, statuses, close } = await start(conditional('skip'), false)
    expect(await over()).toMatchObject({ each: undefined, again: undefined })
    expect(await statuses()).toEqual({
      ask: 'completed',
      ...{ 'each[]': 'skipped', each: 'skipped', 'again[]': 'skipped', again: 'skipped' },
    })
    await close()
  })

  it("lets a map with onSkipped: 'run' decide its items without the skipped one", async () => {
    const { over, close } = await start(conditional('run'), false)
    expect(await over()).toMatchObject({ each: undefined, again: ['none!'] })
    await close()
  })

  it('runs with the case of a choice that it names', async () => {
    const workflow = define('chosen', { version: 1 })
      .choose('size', { cases: ['many', 'few'], on: () => 'many' as const })
      .map('each', { when: { size: 'many' }, over: () => [1, 2], run: ({ item }) => item })
      .map('other', { when: { size: 'few' }, over: () => [3], run: ({ item }) => item })
    const { over, close } = await start(workflow)
    expect(await over()).toMatchObject({ size: 'many', each: [1, 2], other: undefined })
    await close()
  })
})

describe('maps one after the other', () => {
  it('are undone one after the other, with the items that ran', async () => {
    const undone: string[] = []
    const workflow = define('rows', { version: 1, retry: false })
      .map('files', {
        over: () => [2, 1],
        run: ({ item }) => Array.from({ length: item }, (_, n) => `row ${item}.${n}`),
        compensate: ({ index }) => void undone.push(`file ${index}`),
      })
      .map('rows', {
        dependsOn: ['files'],
        over: ({ deps }) => deps.files.flat(),
        itemKey: (row) => row,
        concurrency: 1,
        run: ({ item }) => {
          if (item === 'row 1.0') throw new PermanentError('bad row')
          return item
        },
        compensate: ({ itemKey }) => void undone.push(itemKey),
      })
    const { over, close } = await start(workflow)
    expect(await over()).toMatch(/bad row/)
    expect(undone.slice(0, 2).sort()).toEqual(['row 2.0', 'row 2.1'])
    expect(undone.slice(2).sort()).toEqual(['file 0', 'file 1'])
    await close()
  })
})

describe('an operator on one item, by its key', () => {
  /** Items whose compensations fail as often as `stuck` says, and one of which waits long for its next try. */
  function operated() {
    const calls: string[] = []
    const stuck = new Map<string, number>()
    const workflow = define('album', { version: 1, retry: false })
      .map('resize', {
        over: () => ['a', 'b', 'c'],
        itemKey: (photo) => photo,
        retry: { attempts: 2, initial: '1h', max: '1h', jitter: false },
        run: ({ item, attempt }) => {
          calls.push(`${item} ${attempt}`)
          if (item === 'b' && attempt === 1) throw new Error('busy')
          return item
        },
        compensate: {
          retry: false,
          run: ({ itemKey }) => {
            const left = stuck.get(itemKey) ?? 0
            stuck.set(itemKey, left - 1)
            calls.push(`undo ${itemKey}`)
            if (left > 0) throw new Error('stuck')
          },
        },
      })
      .step('publish', {
        dependsOn: ['resize'],
        run: ({ deps }) => {
          throw new PermanentError(`refused ${deps.resize.join('')}`)
        },
      })
    return { workflow, calls, stuck }
  }

  it('lets its next try begin now', async () => {
    const { workflow, calls } = operated()
    const { run, over, close, after } = await start(workflow)
    await after(1_000)
    await run.retryStep('resize[b]')
    expect(await over()).toMatch(/refused abc/)
    expect(calls.filter((call) => call.startsWith('b'))).toEqual(['b 1', 'b 2'])
    await close()
  })

  it('retries the undo of one item, and skips that of another', async () => {
    const { workflow, calls, stuck } = operated()
    stuck.set('a', 1).set('c', 9)
    const { run, over, statuses, close } = await start(workflow)
    await over()
    expect(await statuses()).toMatchObject({
      ...{
        'resize[a]': 'compensation_failed',
        'resize[b]': 'compensated',
        'resize[c]': 'compensation_failed',
      },
    })
    await run.skipCompensation('resize[c]', { by: 'ops', reason: 'removed by hand' })
    await run.retryCompensation('resize[a]')
    await over()
    expect(await statuses()).toMatchObject({ 'resize[a]': 'compensated', 'resize[c]': 'compensated' })
    expect(calls.filter((call) => call.startsWith('undo')).sort()).toEqual([
      'undo a',
      'undo a',
      'undo b',
      'undo c',
    ])
    await close()
  })
})
