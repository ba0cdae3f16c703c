import { TerminalProgram } from './test/terminal-program.ts'

const [c, r, ...args] = process.argv.slice(2)
const p = new TerminalProgram('start.js', args, { columns: Number(c), rows: Number(r) })
const show = (name: string, rows: readonly string[]) => {
  console.log(`--- ${name}`)
  console.log(rows.map((l, i) => `${String(i + 1).padStart(2)}|${l.padEnd(Number(c))}|`).join('\n'))
}
show('opening', await p.shows('go on'))
show('charging', await p.shows('k kill -9'))
p.press('k')
show('killed', await p.shows(/Its lease,/))
show('took over', await p.shows(/attempt 2/))
show('end 1', await p.shows('go on'))
p.press(' ')
show('undo', await p.shows(/2\. ↩/))
show('end 2', await p.shows('go on'))
p.press(' ')
if (args.includes('--sql')) {
  show('sql', await p.shows('belay.workflow'))
  p.press(' ')
}
console.log(await p.ended)
show('closing', p.screen)
console.log('wrapped', p.hasWrappedRow)
