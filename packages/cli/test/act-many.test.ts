import { define, type Engine, PermanentError, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { belay } from './setup/belay.ts'
import { type TestStore, testStore } from './setup/store.ts'

const COURIERS = ['--reason', 'couriers are back', '--by', 'ops']

/** Orders that failed because there was no courier: `orders` of them alone, and others as children of runs that failed with them. */
async function failedOrders({
  orders,
  children = 0,
}: {
  readonly orders: number
  readonly children?: number
}) {
  const courier = { isBack: false }
  const order = define('fulfil-order', { version: 3, input: unchecked<number>() })
    .step('reserve', { run: () => 1, compensate: () => {} })
    .step('book', {
      dependsOn: ['reserve'],
      run: () => {
        if (!courier.isBack) throw new PermanentError('no courier')
      },
    })
  const parent = define('basket', { version: 1, input: unchecked<number>() }).workflow('fulfil', order, {})
  const store = await testStore()
  const worker = store.engine({ workflows: [parent, order] })
  await worker.start()
  const baskets = await worker.runMany(
    parent,
    Array.from({ length: children }, () => ({ input: 0 })),
  )
  const alone = await worker.runMany(
    order,
    Array.from({ length: orders }, (_, index) => ({ input: index, key: `order:${index + 1}` })),
  )
  await Promise.allSettled([...baskets, ...alone].map((run) => run.result()))
  return { ...store, worker, courier, baskets, alone }
}

/** Retries what failed from the command line, as somebody at a terminal of 80 columns. */
function retry(env: TestStore['env'], typed: string, ...more: readonly string[]) {
  return belay(['retry', '--workflow', 'fulfil-order', ...COURIERS, ...more], { env, columns: 80, typed })
}

function countOf(
  engine: Engine,
  status: 'completed' | 'compensated' | 'paused' | 'running',
): Promise<number> {
  return engine.runs.count({ workflow: 'fulfil-order', status }).then(({ count }) => count)
}

describe('an action on many runs', () => {
  it('retries 41 runs once 41 was typed, and tells on which runs to retry 3 children instead', async () => {
    const { env, courier, worker, baskets } = await failedOrders({ orders: 41, children: 3 })
    courier.isBack = true

    const { stdout, stderr, status } = await retry(env, '41\n', '--since', '2h')

    const lines = stderr.split('\n')
    expect(lines[0]).toMatch(/^Dry run: 44 ended since .*UTC as failed or compensated$/)
    expect(lines[1]).toBe('  41  would be retried: order:41, order:40, order:39, …')
    expect(lines[2]).toBe('   3  cannot be retried alone: it shares the fate of its parent.')
    const [, command = '', asked = ''] = /\n {6}(Instead: .*)\n(Type 41 .*)\n$/s.exec(stderr) ?? []
    const instead = command
      .replaceAll(/ \\\n +/g, ' ')
      .replace('Instead: belay ', '')
      .split(' ')
    expect(instead).toHaveLength(4) // The verb and three ids.
    expect(lines.filter((line) => line.length > 80 && !line.includes('\r'))).toEqual([])
    expect(asked).toMatch(/^Type 41 to retry them, as ops: \r {2}░{20} {2}1 of 41\r/)
    expect(asked.endsWith(`\r  ${'█'.repeat(20)}  41 of 41\nFollow: belay watch --all`)).toBe(true)
    expect(stdout).toBe('41 retried, 0 refused.\n')
    expect(status).toBe(0)
    await expect.poll(() => countOf(worker, 'completed')).toBe(41)

    const parents = await belay([...instead, ...COURIERS, '--yes', '--expect', '3'], { env })

    expect(parents.stdout).toBe('3 retried, 0 refused.\n')
    await Promise.all(baskets.map((run) => run.result()))
  })

  it('shows a dry run at a terminal and changes nothing', async () => {
    const { env, worker } = await failedOrders({ orders: 2, children: 1 })

    const { stdout, stderr, status } = await belay(['retry', '--status', 'compensated', '--dry-run'], {
      env,
      columns: 80,
    })

    const [head, would, child, ...rest] = stdout.trimEnd().split('\n')
    expect(head).toBe('Dry run: 4 ended as compensated')
    expect(would).toMatch(/^ {2}3 {2}would be retried: order:2, order:1, [0-9a-f-]{13,}$/)
    expect(child).toContain('  1  cannot be retried alone')
    // Its parent is retried with the others.
    expect(rest).toEqual([])
    expect([stderr, status]).toEqual(['', 0])
    expect(await countOf(worker, 'compensated')).toBe(3)
  })

  it('gives a pipe the ids of the dry run, which the verb takes from stdin', async () => {
    const { env, worker, courier, alone } = await failedOrders({ orders: 3 })
    courier.isBack = true

    const dry = await belay(['retry', '--workflow', 'fulfil-order', '--limit', '2', '--dry-run'], { env })
    const ids = dry.stdout.trimEnd().split('\n')
    const objects = `${JSON.stringify({ id: ids[0], key: 'x' })}\n\n${ids[1]}\n`
    const { stdout, status } = await belay(['retry', '-', '--yes', ...COURIERS], { env, input: objects })

    expect(ids).toEqual([alone[2]!.id, alone[1]!.id])
    expect(dry.stderr).toBe(
      [
        'Dry run: the newest 2 ended as failed or compensated',
        '  2  would be retried: order:3, order:2',
        'More runs match. Do these and repeat it, or take more at once:',
        '  belay retry --workflow fulfil-order --dry-run --limit 20',
        '',
      ].join('\n'),
    )
    expect([stdout, status]).toEqual(['2 retried, 0 refused.\n', 0])
    await expect.poll(() => countOf(worker, 'completed')).toBe(2)
    expect(await countOf(worker, 'compensated')).toBe(1)
  })

  it('answers the dry run and the result as one document each', async () => {
    const { env, alone, baskets } = await failedOrders({ orders: 1, children: 1 })
    const filter = ['retry', '--workflow', 'fulfil-order', ...COURIERS, '--json']

    const dry = JSON.parse((await belay([...filter, '--dry-run'], { env })).stdout)
    const result = JSON.parse((await belay([...filter, '--yes'], { env })).stdout)

    expect(dry).toMatchObject({
      matched: 2,
      changed: 1,
      runIds: [alone[0]!.id],
      refused: [{ code: 'action_refused', instead: baskets[0]!.id }],
    })
    expect(result).toMatchObject({ matched: 1, changed: 1, runIds: [alone[0]!.id], refused: [] })
  })

  it('changes nothing when another number is typed, or nothing', async () => {
    const { env, worker } = await failedOrders({ orders: 2 })

    const other = await retry(env, '3\n')
    const none = await retry(env, '')

    expect(other.stderr).toContain('Type 2 to retry them, as ops: Nothing was done.\n')
    expect(none.stderr).toContain('Type 2 to retry them, as ops: \nNothing was done.\n')
    expect([other.status, none.status, other.stdout, none.stdout]).toEqual([1, 1, '', ''])
    expect(await countOf(worker, 'compensated')).toBe(2)
  })

  it('refuses with --expect when it would change another number of runs', async () => {
    const { env, worker } = await failedOrders({ orders: 2 })

    const { stderr, status } = await retry(env, '', '--yes', '--expect', '41')

    expect(stderr).toContain('--expect is 41, but it would be 2. Nothing was done.\n')
    expect(status).toBe(1)
    expect(await countOf(worker, 'compensated')).toBe(2)
  })

  it('asks nobody in a script: without --yes it does nothing', async () => {
    const { stderr, status } = await belay(['retry', '--tag', 'tenant:7', ...COURIERS], {
      env: { DATABASE_URL: 'postgres://nowhere' },
    })

    expect(stderr).toBe(
      "Nobody can be asked here: --yes does it without asking.\n  belay retry --tag tenant:7 --reason 'couriers are back' --by ops --dry-run\n",
    )
    expect(status).toBe(2)
  })

  it('stops after the run that is being changed on Ctrl-C, and says how many are as before', async () => {
    const { env, worker } = await failedOrders({ orders: 5 })
    const ctrlC = new AbortController()

    const { stdout, status } = await belay(['retry', '--workflow', 'fulfil-order', ...COURIERS], {
      env,
      columns: 80,
      typed: '5\n',
      signal: ctrlC.signal,
      onNote: (stderr) => {
        if (stderr.includes('2 of 5')) ctrlC.abort()
      },
    })

    expect(stdout).toBe('2 retried, 0 refused. Stopped: 3 are as before.\n')
    expect(status).toBe(1)
    const retried = await worker.runs.list({ workflow: 'fulfil-order' })
    const histories = await Promise.all(retried.map(({ id }) => worker.runs.history(id)))
    expect(histories.filter(({ length }) => length > 0)).toHaveLength(2)
  })

  it('changes nothing on Ctrl-C at the question', async () => {
    const { env, worker } = await failedOrders({ orders: 2 })
    const ctrlC = new AbortController()

    const { stderr, status } = await belay(['retry', '--workflow', 'fulfil-order', ...COURIERS], {
      env,
      columns: 80,
      typed: '2\n',
      signal: ctrlC.signal,
      onNote: (said) => {
        if (said.endsWith('as ops: ')) ctrlC.abort()
      },
    })

    expect(stderr).toContain('as ops: \nNothing was done.\n')
    expect(status).toBe(1)
    expect(await countOf(worker, 'compensated')).toBe(2)
  })

  it('names an id on stdin that no run has, and a line that is no id', async () => {
    const { env, alone } = await failedOrders({ orders: 1 })
    const gone = '01a20ed2-e9b8-7048-b000-0156696b76c8'

    const some = await belay(['retry', '-', '--yes', ...COURIERS], {
      env,
      input: `${alone[0]!.id}\n${gone}\n`,
    })
    const wrong = await belay(['retry', '-', '--yes', ...COURIERS], { env, input: `\n${gone}\torder:1\n` })

    expect(some.stderr).toContain(`  1  no such run: ${gone}\n`)
    expect(some.stdout).toBe('1 retried, 0 refused.\n')
    expect(wrong.stderr).toMatch(/^Line 2 of stdin is neither the id of a run nor an object/)
    expect(wrong.status).toBe(2)
  })

  it('has nothing to do for no run', async () => {
    const { env } = await failedOrders({ orders: 0 })

    const { stdout, stderr, status } = await belay(['cancel', '--workflow', 'fulfil-order', ...COURIERS], {
      env,
      columns: 80,
      typed: '',
    })

    expect(stderr).toBe('Dry run: 0 scheduled, running, waiting or paused runs\n')
    expect([stdout, status]).toEqual(['', 0])
  })

  it.each([
    [['pause', 'order:1', '--workflow', 'x'], 'A run and filters are both given. Keep one of them.\n'],
    [['resume'], 'Run is missing. Name one, or give filters like --workflow and --since.\n'],
    [
      ['retry', 'order:1', 'book', '--tag', 'x', ...COURIERS],
      'A run and filters are both given. Keep one of them.\n',
    ],
    [
      ['retry', 'order:1', 'order:2', 'order:3', ...COURIERS],
      'Several runs are named by their ids, or by filters.\n',
    ],
    [
      ['retry', 'order:1', 'book', '--expect', '1'],
      'Of many runs whole runs are retried: leave out the step.\n',
    ],
  ])('answers %j with what is wrong', async (argv, said) => {
    const { stderr, status } = await belay(argv, { env: { DATABASE_URL: 'postgres://nowhere' } })

    expect([stderr, status]).toEqual([said, 2])
  })
})
