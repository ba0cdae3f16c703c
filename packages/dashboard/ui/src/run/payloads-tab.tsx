import { useState } from 'preact/hooks'
import type { Payloads } from '../../../src/api.ts'
import { downSince } from '../answer.tsx'
import { read } from '../api.ts'
import { useCell } from '../stored.ts'
import { Code } from './code.tsx'
import type { TabProps } from './tab.tsx'

/** Inputs and outputs may be private: they are read when somebody asks for them. */
export function PayloadsTab({ page: { run } }: TabProps) {
  const isStale = useCell(downSince) !== undefined
  const [payloads, setPayloads] = useState<Payloads>()
  const [problem, setProblem] = useState<string>()
  const show = () =>
    read<Payloads>(`runs/${run.id}/payloads`).then(setPayloads, (error: Error) => setProblem(error.message))
  if (payloads === undefined) {
    return (
      <section class="state">
        <h2>Payloads are hidden</h2>
        <p>{problem ?? 'They may be private, and this page did not read them.'}</p>
        <button type="button" class="button" disabled={isStale} onClick={show}>
          Show them
        </button>
      </section>
    )
  }
  return (
    <section class="payloads">
      <Payload title="Input" json={payloads.input} />
      {payloads.steps.map(({ step, output, error }) => (
        <>
          {output !== undefined && <Payload key={step} title={`Output of ${step}`} json={output} />}
          {error !== undefined && <Payload key={`${step} error`} title={`Error of ${step}`} json={error} />}
        </>
      ))}
      {payloads.values.map(({ key, value }) => (
        <Payload key={key} title={`Value ${key}`} json={value} />
      ))}
    </section>
  )
}

function Payload({ title, json }: { readonly title: string; readonly json: string | undefined }) {
  return (
    <details open>
      <summary>{title}</summary>
      {json === undefined ? <p class="weak">None.</p> : <Code>{json}</Code>}
    </details>
  )
}
