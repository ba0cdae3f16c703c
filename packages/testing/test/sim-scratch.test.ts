import { it } from 'vitest'
import { simulate } from '../src/simulation/index.ts'
it('sim', async () => {
  const t=performance.now(); const tot: any={}; let bad=0
  for (let seed=1; seed<=Number(process.env.N ?? 100) && bad<5; seed++) {
    const r = await simulate({seed, ...(process.env.SEED===String(seed)?{trace:(l:string)=>console.log(l.slice(0,400))}:{})})
    for (const [k,v] of Object.entries(r.runs)) tot[k]=(tot[k]??0)+v
    tot.turns=(tot.turns??0)+r.turns; tot.crashes=(tot.crashes??0)+r.crashes; tot.freezes=(tot.freezes??0)+r.freezes
    if (r.violations.length) {bad++; console.log(JSON.stringify(r,null,1))}
  }
  console.log(tot, performance.now()-t)
}, 600000)
