// A supervisor that stops its one process. Both must be gone once this one is killed.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Guard } from '../../dist/supervisor/guard.js'

const guard = new Guard()
const child = spawn(process.execPath, [fileURLToPath(new URL('stays.mjs', import.meta.url))], {
  stdio: 'pipe',
})
guard.watch(child.pid)
process.kill(child.pid, 'SIGSTOP')
process.stdout.write(`${child.pid}\n`)
setInterval(() => {}, 1_000)
