import { type ChildProcess, spawn } from 'node:child_process'

// Ends the processes named by its input once that input closes, which happens however the supervisor ends. Processes stopped by a signal do not
// notice that their own input has closed.
const SCRIPT = `kills="" thaws=""
while read -r verb pid; do
  case "$verb" in
    kill) kills="$kills $pid";;
    gone) kills=$(printf '%s\\n' $kills | grep -vx "$pid" | tr '\\n' ' ');;
    thaw) thaws="$thaws $pid";;
    thawed) thaws="";;
  esac
done
for pid in $kills; do kill -KILL "$pid" 2>/dev/null; done
for pid in $thaws; do kill -CONT "$pid" 2>/dev/null; done`

/** Ensures that no process outlives the supervisor, even if it is stopped when the supervisor is killed. */
export class Guard {
  readonly #shell: ChildProcess

  constructor() {
    this.#shell = spawn('sh', ['-c', SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
    this.#shell.unref()
    this.#shell.stdin!.on('error', () => {})
  }

  /** Kills it when the supervisor ends. */
  watch(pid: number): void {
    this.#tell(`kill ${pid}`)
  }

  forget(pid: number): void {
    this.#tell(`gone ${pid}`)
  }

  /** Continues them when the supervisor ends, so that others can end them in order. */
  frozen(pids: readonly number[]): void {
    for (const pid of pids) this.#tell(`thaw ${pid}`)
  }

  thawed(): void {
    this.#tell('thawed')
  }

  close(): void {
    this.#shell.stdin!.end()
  }

  #tell(line: string): void {
    this.#shell.stdin!.write(`${line}\n`)
  }
}
