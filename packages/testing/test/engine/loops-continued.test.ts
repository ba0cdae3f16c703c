import {
  createEngine,
  define,
  defineGraph,
  PermanentError,
  unchecked,
  type WorkflowDefinition,
} from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { assertInvariants, memory } from '../../src/index.ts'

interface Failing {
  /** The round that fails; 0 for the beginning. */
  at: number | null
  afterwards: boolean
}

/** A loop of three rounds, past whose failure its run continues. */
function drafting(failing: Failing) {
  const happened: string[] = []
  const workflow = define('drafting', { version: 1, input: unchecked<null>(), retry: false })
    .repeat('draft', {
      onFailure: 'continue',
      first: () => {
        if (failing.at === 0) throw new PermanentError('no model')
        return { text: '' }
      },
      run: ({ round, last }) => {
        if (failing.at === round) throw new PermanentError(`round ${round} is broken`)
        happened.push(`round ${round}`)
        return { text: `${last.text}${round}` }
      },
      until: ({ round }) => round === 3,
      max: 4,
      compensate: ({ round }) => void happened.push(`undo ${round}`),
    })
    .step('apologise', { when: { draft: 'failed' }, run: ({ deps }) => deps.draft.error.message })
    .step('send', {
      dependsOn: ['draft', 'apologise'],
      onSkipped: 'run',
      run: ({ deps }) => {
        if (failing.afterwards) throw new PermanentError('refused')
        return deps.draft.status === 'completed' ? deps.draft.output.text : deps.apologise!
      },
    })
  return { workflow, happened }
}

async function perform<Definition extends WorkflowDefinition>(workflow: Definition) {
  const adapter = memory()
  const engine = createEngine({ adapter, workflows: [workflow] })
  await engine.start()
  const run = await engine.run(workflow as WorkflowDefinition, null as never)
  const result = async () => {
    const ended = run.result().catch((error: Error) => error)
    return adapter.clock.runUntil(ended)
  }
  const close = async () => {
    await adapter.clock.runUntil(engine.close())
    assertInvariants(adapter.dump())
  }
  return { run, engine, result, close }
}

describe("a loop with onFailure: 'continue'", () => {
  it('gives what depends on it a settled value, whichever round failed', async () => {
    const { workflow, happened } = drafting({ at: 2, afterwards: false })
    const { run, result, close } = await perform(workflow)

    expect(await result()).toEqual({
      draft: { status: 'failed', error: expect.objectContaining({ message: 'round 2 is broken' }) },
      apologise: 'round 2 is broken',
      send: 'round 2 is broken',
    })
    expect(happened).toEqual(['round 1'])
    const statuses = Object.fromEntries((await run.status()).steps.map(({ name, status }) => [name, status]))
    expect(statuses).toMatchObject({ draft: 'failed', 'draft[1]': 'completed', 'draft[2]': 'failed' })
    expect((await run.explain()).continued.map(({ sentence }) => sentence)).toEqual([
      '"draft[2]" failed (PermanentError: round 2 is broken), and the run continued.',
      '"draft" failed (PermanentError: round 2 is broken), and the run continued.',
    ])
    await close()
  })

  it('gives a settled value of its last round if it completed', async () => {
    const { workflow } = drafting({ at: null, afterwards: false })
    const { result, close } = await perform(workflow)

    expect(await result()).toEqual({
      draft: { status: 'completed', output: { text: '123' } },
      apologise: undefined,
      send: '123',
    })
    await close()
  })

  it('has failed if first failed, before any round', async () => {
    const { workflow } = drafting({ at: 0, afterwards: false })
    const { result, close } = await perform(workflow)

    expect(await result()).toMatchObject({ draft: { error: { message: 'no model' } }, send: 'no model' })
    await close()
  })

  it('tells by its code that its rounds were exhausted, and that round is undone with the others', async () => {
    const happened: string[] = []
    const workflow = define('exhausted', { version: 1, retry: false })
      .repeat('a', {
        onFailure: 'continue',
        run: ({ round }) => round,
        until: () => false,
        max: 2,
        compensate: ({ round }) => void happened.push(`undo ${round}`),
      })
      .step('b', {
        dependsOn: ['a'],
        run: ({ deps }) => {
          if (deps.a.status === 'failed') throw new PermanentError(deps.a.error.code ?? 'no code')
        },
      })
    const { result, close } = await perform(workflow)

    expect(await result()).toMatchObject({ reason: { error: { message: 'rounds_exhausted' } } })
    expect(happened).toEqual(['undo 2', 'undo 1'])
    await close()
  })

  it('is undone in reverse, without the round that failed, if its run fails later', async () => {
    const { workflow, happened } = drafting({ at: 3, afterwards: true })
    const { run, result, close } = await perform(workflow)

    expect(await result()).toMatchObject({ reason: { error: { message: 'refused' } } })
    expect(happened).toEqual(['round 1', 'round 2', 'undo 2', 'undo 1'])
    expect((await run.status()).status).toBe('compensated')
    await close()
  })

  it('begins anew when its run is retried, and may fail to begin', async () => {
    const failing: Failing = { at: null, afterwards: true }
    const { workflow, happened } = drafting(failing)
    const { run, result, close } = await perform(workflow)
    await result()
    expect(happened.slice(-3)).toEqual(['undo 3', 'undo 2', 'undo 1'])

    Object.assign(failing, { at: 0, afterwards: false })
    await run.retry()
    expect(await result()).toMatchObject({ draft: { status: 'failed' }, send: 'no model' })
    expect((await run.explain()).skipped).toContainEqual({
      step: 'draft[3]',
      sentence: '"draft[3]" was skipped because "draft[]" failed.',
    })
    await close()
  })

  it('begins when its run is retried whose loop had failed to begin', async () => {
    const failing: Failing = { at: 0, afterwards: true }
    const { workflow, happened } = drafting(failing)
    const { run, result, close } = await perform(workflow)
    await result()

    Object.assign(failing, { at: null, afterwards: false })
    await run.retryStep('draft[]')
    expect(await result()).toMatchObject({ draft: { status: 'completed' }, send: '123' })
    expect(happened).toEqual(['round 1', 'round 2', 'round 3'])
    await close()
  })

  it('is the same as data', async () => {
    const workflow = defineGraph(
      'as-data',
      {
        steps: {
          page: { repeat: 'page', until: 'isLast', onFailure: 'continue', attempts: 1 },
          report: { handler: 'report', when: { page: 'failed' } },
        },
        dag: {},
      },
      {
        page: () => {
          throw new PermanentError('gone')
        },
        isLast: () => true,
        report: ({ deps }) => (deps['page'] as { error: { message: string } }).error.message,
      },
    )
    const { result, close } = await perform(workflow)

    expect(await result()).toMatchObject({ page: { status: 'failed' }, report: 'gone' })
    await close()
  })

  it('refuses another value, and says which there are', () => {
    const loop = { onFailure: 'collect', run: () => 1, until: () => true }
    expect(() => define('w', { version: 1 }).repeat('a', loop as never)).toThrow(
      `Workflow "w", step "a": onFailure is "collect", and must be one of 'stop', 'continue'.`,
    )
  })
})
