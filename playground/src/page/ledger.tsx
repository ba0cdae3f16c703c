import type { State } from './state.ts'

/** What the outside world saw, and whether it balances. */
export function Ledger({ state: { ledger, balance } }: { readonly state: State }) {
  return (
    <section class="ledger" aria-label="Ledger">
      <div class="scroll" tabIndex={0} role="region" aria-label="Entries of the ledger">
        <table>
          <tbody>
            {ledger
              .slice(-30)
              .reverse()
              .map(({ service, what, amount, worker }, index) => (
                <tr key={ledger.length - index}>
                  <td>{service}</td>
                  <td>{what}</td>
                  <td>{amount}</td>
                  <td>{worker}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
      {balance && (
        <p role="status">
          {balance.sold} sold, {balance.undone} undone to nothing
          {balance.between > 0 ? `, ${balance.between} in between.` : ': it balances.'}
        </p>
      )}
    </section>
  )
}
