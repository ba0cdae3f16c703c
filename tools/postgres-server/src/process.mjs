import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'

const READY_MS = 60_000

/**
 * Runs a program to its end.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {import('./user.mjs').User | null} user
 */
export async function run(program, args, user) {
  const child = spawn(program, args, { ...identity(user), stdio: ['ignore', 'pipe', 'pipe'] })
  const output = collect(child)
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${program} ended with ${code}:\n${output()}`)
}

/**
 * Starts the server and resolves once it accepts connections.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {import('./user.mjs').User | null} user
 */
export async function spawnServer(program, args, user) {
  // A separate process group: Ctrl-C in the terminal must reach only the tests, which then stop the server in order.
  const child = spawn(program, args, { ...identity(user), stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const output = collect(child)
  const ended = once(child, 'close')
  await untilReady(child, output)
  child.unref()
  for (const stream of [child.stdout, child.stderr]) stream.removeAllListeners('data').resume().unref?.()
  return {
    /** @param {NodeJS.Signals} signal */
    async end(signal) {
      child.ref()
      child.kill(signal)
      await ended
    },
    /**
     * Signals every process of the server. Each is its own process group, so no single signal reaches them all.
     *
     * @param {NodeJS.Signals} signal
     */
    signalAll(signal) {
      const server = /** @type {number} */ (child.pid)
      // The server first, so that it cannot fork another process meanwhile.
      process.kill(server, signal)
      for (const pid of childrenOf(server)) signalUnlessGone(pid, signal)
    },
    async killAll() {
      child.ref()
      const backends = childrenOf(/** @type {number} */ (child.pid))
      child.kill('SIGKILL')
      for (const pid of backends) signalUnlessGone(pid, 'SIGKILL')
      // The last of them closes the output, which alone would not keep this process alive.
      const waiting = setInterval(() => {}, 1_000)
      await ended
      clearInterval(waiting)
    },
  }
}

/**
 * @param {import('node:child_process').ChildProcessByStdio<null, import('node:stream').Readable, import('node:stream').Readable>} child
 * @param {() => string} output
 * @returns {Promise<void>}
 */
function untilReady(child, output) {
  return new Promise((resolve, reject) => {
    // A setting that sends the log elsewhere, like logging_collector, would make us wait for ever.
    const timer = setTimeout(() => {
      child.kill('SIGQUIT')
      reject(new Error(`PostgreSQL did not say that it is ready within ${READY_MS} ms:\n${output()}`))
    }, READY_MS)
    child.once('close', () => clearTimeout(timer))
    child.stderr.on('data', () => {
      // A standby accepts read-only ones.
      if (/database system is ready to accept (read-only )?connections/.test(output())) {
        clearTimeout(timer)
        resolve()
      }
    })
    child.once('error', reject)
    child.once('close', (code) =>
      reject(new Error(`PostgreSQL ended with ${code} before it was ready:\n${output()}`)),
    )
  })
}

/** @param {number} parent */
function childrenOf(parent) {
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent)
}

/** @param {number} pid */
function parentOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the program's name, which may contain spaces and parentheses; the parent is the fourth.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    // It has ended since /proc was listed.
    return undefined
  }
}

/**
 * @param {number} pid
 * @param {NodeJS.Signals} signal
 */
function signalUnlessGone(pid, signal) {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error
  }
}

/**
 * A shell that waits for this process to end by any cause, even SIGKILL (its standard input then closes). Then it ends the server and removes its
 * files. It reads the server's id only then, because a restart changes it. It waits for the pid file to vanish, because the process may stay a zombie
 * where nobody reaps orphans.
 *
 * @param {string} data
 * @param {readonly string[]} folders
 */
export function guardAgainstOrphans(data, folders) {
  if (process.platform === 'win32') return { dismiss() {} }
  const script = `read -r word; [ "$word" = dismissed ] && exit
pid=$(head -n 1 "$1/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid"
tries=0
while [ -e "$1/postmaster.pid" ] && [ $tries -lt 200 ]; do sleep 0.05; tries=$((tries + 1)); done
shift
rm -rf "$@"`
  const child = spawn('sh', ['-c', script, 'belay-postgres-guard', data, ...folders], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  child.unref()
  child.stdin.unref?.()
  return {
    dismiss() {
      child.stdin.end('dismissed\n')
    },
  }
}

function identity(user) {
  return user === null ? {} : { uid: user.uid, gid: user.gid }
}

function collect(child) {
  let text = ''
  const add = (chunk) => {
    text += chunk
  }
  child.stdout.on('data', add)
  child.stderr.on('data', add)
  return () => text
}
