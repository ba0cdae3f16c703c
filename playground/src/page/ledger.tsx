import { glyphOf, stateClass } from '@belay/graph-view'
import { Glyph } from '../../../packages/dashboard/ui/src/glyph.tsx'
import { Refusal, useAsked } from './asked.tsx'
import { type Balance, balanceSentence, type Entry } from './balance.ts'
import type { State } from './model.ts'
import { Scroll } from './scroll.tsx'
import type { Playground } from './state.ts'

/** What the outside world saw, and whether it balances. */
export function Ledger({ playground, state }: { readonly playground: Playground; readonly state: State }) {
  const { ledger, balance, runs } = state
  const nameOf = (order: string) => runs.find(({ id }) => id === order)?.key ?? `…${order.slice(-4)}`
  return (
    <section class="ledger" aria-label="Ledger">
      <div class="panel-head">
        <h2>Ledger</h2>
        <Services {...{ playground, state }} />
      </div>
      {balance && <BalanceLine balance={balance} />}
      <Scroll label="Entries">
        {ledger.length === 0 && <p class="weak">Nobody was charged yet.</p>}
        <table>
          <tbody>
            {ledger.map((entry) => (
              <tr key={entry.id}>
                <td>{nameOf(entry.order)}</td>
                <td>
                  {entry.service} {entry.what}
                </td>
                <td class="number">{amountText(entry)}</td>
                <td class="weak">
                  {entry.worker}
                  {entry.calls > 1 && `, called ${entry.calls} ×`}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  )
}

const LOOKS = { good: 'completed', plain: 'running', bad: 'failed' } as const

function BalanceLine({ balance }: { readonly balance: Balance }) {
  const { text, looks } = balanceSentence(balance)
  const state = glyphOf(LOOKS[looks])
  return (
    <p class={`balance ${looks} ${stateClass(state)}`} role={looks === 'bad' ? 'alert' : undefined}>
      <Glyph state={state} />
      <span>
        {text}
        {balance.repeated > 0 &&
          ` ${balance.repeated} ${balance.repeated === 1 ? 'call came' : 'calls came'} again, and changed nothing.`}
      </span>
    </p>
  )
}

function amountText({ service, amount }: Entry): string {
  if (service === 'mail') return ''
  const sign = amount < 0 ? '−' : '+'
  return `${sign}${service === 'card' ? (Math.abs(amount) / 100).toFixed(2) : Math.abs(amount)}`
}

/** The services can be closed: a call then fails, a refund too. */
function Services({ playground, state }: { readonly playground: Playground; readonly state: State }) {
  const { refusal, ask } = useAsked()
  return (
    <>
      <fieldset class="services">
        <legend class="sr">Services that are open</legend>
        {state.services.map(({ name, open }) => (
          <label key={name} class="check">
            <input
              type="checkbox"
              checked={open}
              data-service={name}
              onChange={() => void ask(() => playground.openService(name, !open))}
            />
            {name}
          </label>
        ))}
      </fieldset>
      <Refusal of={refusal} />
    </>
  )
}
