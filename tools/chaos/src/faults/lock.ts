import type pg from 'pg'
import { QUERY_TIMEOUT_MS } from '../child/protocol.ts'
import { drawInput } from '../load/input.ts'
import { pause } from '../pause.ts'
import type { Stage } from '../supervisor/stage.ts'
import { writeIntents } from '../world/intents.ts'
import { ACCOUNTS } from '../world/schema.ts'
import type { Fault } from './fault.ts'

const TABLES = ['workflow_steps', 'workflow_runs', 'workflow_ready', 'workflow_workers', 'workflow_signals']

/** ACCESS EXCLUSIVE on one of Belay's tables, as VACUUM FULL or a careless migration takes it. */
export const lockTable: Fault = {
  name: 'table locked',
  class: 'lock',
  weight: 3,
  isAlone: true,
  async strike(stage) {
    const table = stage.random.pick(TABLES)
    const ms = holdMs(stage)
    stage.troubles.add('lock')
    try {
      await within(stage, async (client) => {
        await client.query(`set local lock_timeout = '5s'`)
        await client.query(`lock table belay.${table} in access exclusive mode`)
        await pause(ms)
        return 'rollback'
      })
    } finally {
      stage.troubles.delete('lock')
    }
    return { what: `${table} for ${ms} ms` }
  },
}

/** A user's transaction locks a few rows of steps that workers need. */
export const holdSteps: Fault = {
  name: 'steps held',
  class: 'lock',
  weight: 3,
  async strike(stage) {
    const ms = holdMs(stage)
    let held = 0
    await holding(stage, async (client) => {
      const { rowCount } = await client.query(
        `select 1 from belay.workflow_steps
         where run_id in (select id from belay.workflow_runs where status = 'running' and finished_at is null order by random() limit 3)
           and status in ('running', 'ready', 'waiting')
         for update skip locked`,
      )
      held = rowCount ?? 0
      await pause(held === 0 ? 0 : ms)
      return 'rollback'
    })
    return { what: held === 0 ? undefined : `${held} for ${ms} ms` }
  },
}

/** A signal is sent in a transaction that stays open past the timeout of the step that waits for it. */
export const holdSignal: Fault = {
  name: 'signal held',
  class: 'lock',
  weight: 3,
  async strike(stage) {
    const runId = await runAwaiting(stage, 'paid')
    if (runId === undefined) return { what: undefined }
    const ms = holdMs(stage)
    const nonce = `${runId}-held`
    let result = ''
    await holding(stage, async (client) => {
      const receipt = await stage.engine.signal(runId, 'paid', { nonce }, { key: nonce, tx: client })
      result = receipt.result
      await pause(ms)
      return stage.random.pick(['commit', 'rollback'])
    }).then(async (end) => {
      if (end !== 'commit') return
      await stage.world.query('insert into receipts (run_id, step, nonce, result) values ($1, $2, $3, $4)', [
        runId,
        'paid',
        nonce,
        result,
      ])
    })
    return { what: `to run ${runId} for ${ms} ms` }
  },
}

let keys = 0

/** An open transaction has taken the key of a start that the trigger makes meanwhile. */
export const holdKey: Fault = {
  name: 'key held',
  class: 'lock',
  weight: 3,
  async strike(stage) {
    const { random, workflows, world, engine, fleet } = stage
    keys += 1
    const key = `held-${keys}`
    const input = drawInput(random, { accounts: ACCOUNTS, lot: keys, isPlanned: false })
    const ms = holdMs(stage)
    const commits = random.chance(0.5)
    await writeIntents(world, [{ key, workflow: 'transfer', version: 1, kind: 'run', input }])
    await holding(stage, async (client) => {
      await engine.run(workflows.transfer, input, { key, tx: client })
      // If the trigger is killed meanwhile, its successor takes the intent up.
      fleet.trigger.child?.tell({ type: 'start', key })
      await pause(ms)
      return commits ? 'commit' : 'rollback'
    }).catch(() => fleet.trigger.child?.tell({ type: 'start', key }))
    return { what: `for ${ms} ms` }
  },
}

async function runAwaiting({ database }: Stage, step: string): Promise<string | undefined> {
  const { rows } = await database.query<{ run_id: string }>(
    `select s.run_id from belay.workflow_step_overview s join belay.workflow_runs r on r.id = s.run_id
     where r.status = 'running' and s.name = $1 and s.status = 'waiting' order by random() limit 1`,
    [step],
  )
  return rows[0]?.run_id
}

/** From a moment to twice a statement's limit. */
function holdMs({ random }: Stage): number {
  return random.between(300, 2 * QUERY_TIMEOUT_MS)
}

/** Runs `part` while rows are locked: waiting for them counts as explained. */
async function holding(stage: Stage, part: (client: pg.PoolClient) => Promise<'commit' | 'rollback'>) {
  const trouble = `hold ${performance.now()}`
  stage.troubles.add(trouble)
  try {
    return await within(stage, part)
  } finally {
    stage.troubles.delete(trouble)
  }
}

async function within(
  { database }: Stage,
  part: (client: pg.PoolClient) => Promise<'commit' | 'rollback'>,
): Promise<'commit' | 'rollback'> {
  const client = await database.connect()
  client.on('error', () => {})
  let done = false
  try {
    await client.query('begin')
    const end = await part(client)
    await client.query(end)
    done = true
    return end
  } finally {
    client.release(!done)
  }
}
