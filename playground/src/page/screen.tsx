import { useEffect, useState } from 'preact/hooks'
import type { Look } from '../messages.ts'
import { PRESETS } from '../presets/index.ts'
import { Stage } from './stage.ts'

export function Screen() {
  const [lines, setLines] = useState<readonly string[]>([])
  useEffect(() => {
    const say = (line: string) => setLines((before) => [...before, line])
    const since = performance.now()
    const at = () => `${Math.round(performance.now() - since)} ms`
    const stage = new Stage((told) => {
      if (told.of === 'worker' && told.message.type === 'event') say(`${told.worker}: ${told.message.name}`)
    })
    Object.assign(globalThis, { stage })
    const go = async () => {
      await stage.open(true)
      say(`open after ${at()}`)
      await stage.play(PRESETS[0]!.code, ['one', 'two', 'three'])
      say(`plays after ${at()}`)
      const [id] = await stage.ask<string[]>({ do: 'start', first: 1, count: 1 })
      for (;;) {
        const look = await stage.ask<Look>({ do: 'look', id: id! })
        if (look.run.finishedAt !== undefined) return say(`${look.run.status} after ${at()}: ${look.why}`)
        await new Promise((done) => setTimeout(done, 200))
      }
    }
    go().catch((error: unknown) => say(String(error)))
  }, [])
  return <pre>{lines.join('\n')}</pre>
}
