import { readFileSync } from 'node:fs'

// npm passes on the Ctrl-C that the terminal has already sent to this process. Nobody presses it twice this fast.
const SAME_KEYSTROKE_MS = 100

/**
 * Makes one Ctrl-C one SIGINT, so that a program may take a second one for "leave now".
 * @param {import('node:events').EventEmitter} program
 * @param {() => number} now
 */
export function hearSignalsOnce(program = process, now = () => performance.now()) {
  const emit = program.emit
  let heardAt = Number.NEGATIVE_INFINITY
  program.emit = (event, ...rest) => {
    if (event === 'SIGINT') {
      const isEcho = now() - heardAt < SAME_KEYSTROKE_MS
      if (isEcho) return true
      heardAt = now()
    }
    return Reflect.apply(emit, program, [event, ...rest])
  }
}

const LOOK_EVERY_MS = 200

/**
 * Under `npm start` this process has two ancestors, a shell and npm, that don't always tell when they are ended: a killed npm leaves us
 * running unseen with the database open, and a SIGTERM to npm ends only the shell. So look, and end in the same way.
 */
export function endWithLauncher() {
  if (process.env['npm_lifecycle_event'] === undefined) return
  const shell = process.ppid
  const npm = parentOf(shell)
  const timer = setInterval(() => {
    if (process.ppid !== shell) {
      clearInterval(timer)
      process.kill(process.pid, 'SIGTERM')
    } else if (npm !== undefined && parentOf(shell) !== npm) {
      process.kill(process.pid, 'SIGKILL')
    }
  }, LOOK_EVERY_MS)
  timer.unref()
}

/**
 * The parent's id, where the system tells it cheaply (Linux); elsewhere the shell has made way for us, and npm is our parent.
 * @param {number} pid
 */
function parentOf(pid) {
  try {
    // "pid (name) state ppid …": the name may hold anything, spaces and brackets included.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return undefined
  }
}
