// A worker process that kills itself right before or right after the nth call of a verb of the store, or within a transaction. KILL is like `before
// settle 3` or `within transact 2`. It starts the runs itself. APPLICATION names the file with its workflows. If it reaches the end of everything, it prints how often
// it called each verb.
import { createEngine } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import pg from 'pg'

const { DATABASE_URL, NAME, APPLICATION, FAILS, KILL = '' } = process.env
const [when, verb, nth] = KILL.split(' ')

/** How often each verb was called. For verbs that may find nothing, also how often they found something. */
const calls = {}
const finds = {}

// These verbs are called repeatedly and mostly find nothing. Only a call that has found something can lose something.
const FOUND = {
  claim: (claimed) => claimed !== 'lost' && claimed.claims.length > 0,
  drain: (drained) => drained.length > 0,
}

const NOT_CALLS_OF_THE_STORE = ['onWake', 'wake', 'onNotice', 'checkTransactions', 'close']

const adapter = new Proxy(postgres(DATABASE_URL, { connectionsMax: 2, transactionsMax: 1, listen: false }), {
  get(store, name) {
    const value = store[name]
    if (typeof value !== 'function' || NOT_CALLS_OF_THE_STORE.includes(name)) return value
    return async (...request) => {
      const nth = (calls[name] ?? 0) + 1
      calls[name] = nth
      dieAt('before', name, nth)
      const answer = await value.apply(store, name === 'transact' ? dyingWithin(request, nth) : request)
      if (FOUND[name]?.(answer) ?? true) {
        finds[name] = (finds[name] ?? 0) + 1
        dieAt('after', name, finds[name])
      }
      return answer
    }
  },
})

/** Dies when the handler has ended and nothing is committed. */
function dyingWithin([request], nth) {
  const work = async (tx) => {
    const ended = await request.work(tx)
    dieAt('within', 'transact', nth)
    return ended
  }
  return [{ ...request, work }]
}

function dieAt(...point) {
  if (when === point[0] && verb === point[1] && Number(nth) === point[2]) process.kill(process.pid, 'SIGKILL')
}

const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 1 })
const { application } = await import(`./${APPLICATION}.mjs`)
const { workflows, work } = application(NAME, pool, { fails: FAILS === 'yes' })
const engine = createEngine({ adapter, workflows, name: NAME, lease: '800ms' })
await work(engine)
process.stdout.write(`${JSON.stringify({ event: 'ended', calls, finds })}\n`, () => process.exit(0))
