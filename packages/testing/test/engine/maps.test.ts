import { createEngine, define, PermanentError, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { assertInvariants, memory } from '../../src/index.ts'

interface Album {
  readonly photos: readonly string[]
}

function album(
  options: { readonly concurrency?: number; readonly failsAt?: string; readonly publishes?: boolean } = {},
) {
  const happened: string[] = []
  let [running, most] = [0, 0]
  const adapter = memory()
  const pause = () => new Promise<void>((resolve) => void adapter.clock.after(10, resolve))
  const workflow = define('album', { version: 1, input: unchecked<Album>(), retry: false })
    .step('open', { run: ({ input }) => input.photos.length, compensate: () => void happened.push('close') })
    .map('resize', {
      dependsOn: ['open'],
      over: ({ input, deps }) => input.photos.map((photo) => ({ photo, of: deps.open })),
      itemKey: ({ photo }) => photo,
      concurrency: options.concurrency,
      run: async ({ item, itemKey, index, idempotencyKey }) => {
        running += 1
        most = Math.max(most, running)
        await pause()
        running -= 1
        if (item.photo === options.failsAt) throw new PermanentError('broken')
        happened.push(`resize ${itemKey} ${index} ${idempotencyKey.split(':')[1]}`)
        return `${item.photo}.small`
      },
      compensate: ({ item, output }) => void happened.push(`remove ${item.photo} ${output}`),
    })
    .step('publish', {
      dependsOn: ['resize'],
      run: ({ deps }) => {
        if (options.publishes === false) throw new PermanentError('refused')
        return deps.resize.join()
      },
    })
  return { adapter, workflow, happened, most: () => most }
}

async function perform(photos: readonly string[], made: ReturnType<typeof album>) {
  const { adapter } = made
  const engine = createEngine({ adapter, workflows: [made.workflow] })
  await engine.start()
  const run = await engine.run(made.workflow, { photos })
  const result = run.result()
  result.catch(() => {})
  await adapter.clock.runUntil(result.then(String, String))
  const outputs = await result.catch((error: Error) => error)
  const snapshot = await engine.runs.get(run.id)
  await adapter.clock.runUntil(engine.close())
  assertInvariants(adapter.dump())
  return { outputs, snapshot, happened: made.happened, most: made.most() }
}

describe('the key of an item', () => {
  it.each(['\0', '\ud800', 'k'.repeat(257)])(
    'cannot be %j, which no store or no operator can name',
    async (key) => {
      const workflow = define('w', { version: 1 }).map('m', {
        over: () => [1],
        itemKey: () => key,
        run: () => 1,
      })
      const adapter = memory()
      const engine = createEngine({ adapter, workflows: [workflow] })
      await engine.start()
      const run = await engine.run(workflow, undefined)
      const error = await adapter.clock.runUntil(run.result().catch((failure: Error) => failure))
      expect(error).toMatchObject({
        message: expect.stringContaining('for item 0. A key is a text of 1 to 256 characters without NUL'),
      })
      await adapter.clock.runUntil(engine.close())
    },
  )

  it('may be so long that an operator names the item by more characters than a step has', async () => {
    const key = 'k'.repeat(256)
    const workflow = define('w', { version: 1, retry: { attempts: 2, initial: '1h' } }).map('m', {
      over: () => [1],
      itemKey: () => key,
      run: () => {
        throw new Error('not now')
      },
    })
    const adapter = memory()
    const engine = createEngine({ adapter, workflows: [workflow] })
    await engine.start()
    const run = await engine.run(workflow, undefined)
    await adapter.clock.advance('1m')
    await run.skipStep(`m[${key}]`, { output: 7 as never })
    expect(await adapter.clock.runUntil(run.result())).toEqual({ m: [7] })
    await adapter.clock.runUntil(engine.close())
  })
})

describe('a map', () => {
  it('runs its handler for each item and returns the outputs in the order of the items', async () => {
    const { outputs, happened } = await perform(['a', 'b', 'c'], album())
    expect(outputs).toEqual({
      open: 3,
      resize: ['a.small', 'b.small', 'c.small'],
      publish: 'a.small,b.small,c.small',
    })
    expect(happened.sort()).toEqual(['resize a 0 resize[a]', 'resize b 1 resize[b]', 'resize c 2 resize[c]'])
  })

  it('without items completes at once', async () => {
    const { outputs } = await perform([], album())
    expect(outputs).toEqual({ open: 0, resize: [], publish: '' })
  })

  it.each([1, 2, 3])('runs %i items at a time, and all of them', async (concurrency) => {
    const photos = Array.from({ length: 12 }, (_, index) => `p${index}`)
    const { outputs, most } = await perform(photos, album({ concurrency }))
    expect(outputs).toMatchObject({ resize: photos.map((photo) => `${photo}.small`) })
    expect(most).toBe(concurrency)
  })

  it('fails with an item that fails for good, and undoes the others', async () => {
    const { happened, snapshot } = await perform(['a', 'b', 'c'], album({ failsAt: 'b' }))
    expect(snapshot?.status).toBe('compensated')
    expect(happened.filter((what) => what.startsWith('remove')).sort()).toEqual([
      'remove a a.small',
      'remove c c.small',
    ])
    expect(happened.at(-1)).toBe('close')
  })

  it('is undone before what it depends on when a later step fails', async () => {
    const { happened, snapshot } = await perform(['a', 'b'], album({ publishes: false }))
    expect(snapshot?.status).toBe('compensated')
    expect(happened.slice(2).sort()).toEqual(['close', 'remove a a.small', 'remove b b.small'])
    expect(happened.at(-1)).toBe('close')
  })
})

/** An engine over a map whose items fail as long as their names are in `failing`. */
async function operated(options: { readonly concurrency?: number; readonly photos: readonly string[] }) {
  const adapter = memory()
  const calls: string[] = []
  const failing = new Set<string>()
  const workflow = define('album', { version: 1, input: unchecked<Album>(), retry: false })
    .step('open', { run: () => 'opened', compensate: () => void calls.push('close') })
    .map('resize', {
      dependsOn: ['open'],
      over: ({ input }) => input.photos,
      concurrency: options.concurrency,
      run: async ({ item, idempotencyKey }) => {
        await new Promise<void>((resolve) => void adapter.clock.after(10, resolve))
        if (failing.has(item)) throw new PermanentError(`cannot resize ${item}`)
        calls.push(idempotencyKey.replace(/^[^:]*:/, ''))
        return item
      },
      compensate: ({ item }) => void calls.push(`remove ${item}`),
    })
    .step('publish', {
      dependsOn: ['resize'],
      run: ({ deps }) => {
        if (failing.has('publish')) throw new PermanentError('refused')
        return deps.resize.join('')
      },
    })
  const engine = createEngine({ adapter, workflows: [workflow] })
  await engine.start()
  const run = await engine.run(workflow, { photos: options.photos })
  return {
    run,
    calls,
    failing,
    /** Waits for the run's end, or rest. */
    async over() {
      const result = run.result()
      await adapter.clock.runUntil(result.then(String, String))
      assertInvariants(adapter.dump())
      return result.then(
        (outputs) => outputs.publish,
        (error: Error) => error.message,
      )
    },
    async close() {
      await adapter.clock.runUntil(engine.close())
      assertInvariants(adapter.dump())
    },
  }
}

describe('an operator on a map', () => {
  it('retries the run: items that were undone run again, with other idempotency keys', async () => {
    const { run, calls, failing, over, close } = await operated({ photos: ['a', 'b', 'c'] })
    failing.add('c')
    expect(await over()).toMatch(/step "resize\[2\]" gave up .* cannot resize c\. Undone: 3 of 3/)
    failing.clear()
    await run.retry()
    expect(await over()).toBe('abc')
    await close()
    expect(calls.filter((call) => call.startsWith('resize')).sort()).toEqual([
      'resize[0]',
      'resize[0]:2',
      'resize[1]',
      'resize[1]:2',
      'resize[2]:2',
    ])
  })

  it.each([1, 2, 5])('retries a run whose map runs %i items at a time', async (concurrency) => {
    const photos = [...'abcdefgh']
    const { run, failing, over, close } = await operated({ photos, concurrency })
    failing.add('d')
    await over()
    failing.clear()
    failing.add('publish')
    await run.retry()
    await over()
    failing.clear()
    await run.retry()
    expect(await over()).toBe('abcdefgh')
    await close()
  })

  it('skips one item by its name, and the join gets what stands in for its output', async () => {
    const adapter = memory()
    const performed: string[] = []
    const workflow = define('skipping', { version: 1, retry: false }).map('each', {
      over: () => ['a', 'b', 'c', 'd'],
      concurrency: 2,
      run: ({ item }) => {
        performed.push(item)
        if (item === 'b') throw new PermanentError('refused')
        return item
      },
    })
    const engine = createEngine({ adapter, workflows: [workflow] })
    await engine.start()
    const run = await engine.run(workflow)
    await adapter.clock.runUntil(run.result().catch(() => {}))
    expect(await run.status()).toMatchObject({ status: 'failed' })
    await run.skipStep('each[1]', { output: 'B' })
    expect(await adapter.clock.runUntil(run.result())).toEqual({ each: ['a', 'B', 'c', 'd'] })
    expect(performed.toSorted()).toEqual(['a', 'b', 'c', 'd'])
    await adapter.clock.runUntil(engine.close())
    assertInvariants(adapter.dump())
  })

  it('does not skip an item while a step before its map has to run again', async () => {
    const { run, failing, over, close } = await operated({ photos: ['a', 'b'], concurrency: 2 })
    failing.add('b')
    await over()
    await expect(run.skipStep('resize[1]', { output: 'B' })).rejects.toThrow(
      'steps that it depends on were undone and must run again before it',
    )
    failing.clear()
    await run.retry()
    expect(await over()).toBe('ab')
    await close()
  })

  it('goes on once it is resumed, if an item was skipped during the pause', async () => {
    const adapter = memory()
    const performed: string[] = []
    const workflow = define('turns', { version: 1, retry: { attempts: 2, initial: '1h' } }).map('each', {
      over: () => ['a', 'b', 'c'],
      concurrency: 1,
      run: ({ item }) => {
        if (item === 'a') throw new Error('later')
        performed.push(item)
        return item
      },
    })
    const engine = createEngine({ adapter, workflows: [workflow] })
    await engine.start()
    const run = await engine.run(workflow)
    await adapter.clock.runUntil(new Promise<void>((resolve) => void adapter.clock.after(1_000, resolve)))
    await run.pause()
    await run.skipStep('each[0]', { output: 'A' })
    await run.resume()
    expect(await adapter.clock.runUntil(run.result())).toEqual({ each: ['A', 'b', 'c'] })
    expect(performed).toEqual(['b', 'c'])
    await adapter.clock.runUntil(engine.close())
    assertInvariants(adapter.dump())
  })

  it('lets a map that decided its items while its run was cancelled decide them again', async () => {
    const adapter = memory()
    let decide: (() => void) | undefined
    let asked = 0
    const workflow = define('late', { version: 1 }).map('each', {
      over: async () => {
        asked += 1
        if (asked === 1) await new Promise<void>((resolve) => (decide = resolve))
        return [1, 2]
      },
      run: ({ item }) => item,
    })
    const engine = createEngine({ adapter, workflows: [workflow] })
    await engine.start()
    const run = await engine.run(workflow)
    await adapter.clock.runUntil(new Promise<void>((resolve) => void adapter.clock.after(1_000, resolve)))
    await run.cancel({ by: 'ops' })
    decide?.()
    await adapter.clock.runUntil(run.result().then(String, String))
    await run.retry()
    expect(await adapter.clock.runUntil(run.result())).toEqual({ each: [1, 2] })
    await adapter.clock.runUntil(engine.close())
    assertInvariants(adapter.dump())
  })

  it('may not skip the step that decides the items, and may not move a run with items', async () => {
    const { run, failing, over, close } = await operated({ photos: ['a'] })
    failing.add('a')
    await over()
    await expect(run.skipStep('resize[]', {})).rejects.toThrow(/decides the items of a map/)
    await close()
  })
})
