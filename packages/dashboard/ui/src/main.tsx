import { QueryClientProvider } from '@tanstack/react-query'
import { render } from 'preact'
import { Redirect, Route, Router, Switch } from 'wouter'
import { Blank } from './answer.tsx'
import { BASE } from './api.ts'
import { Health } from './health/health.tsx'
import { listenToKeys } from './keys.ts'
import { client } from './live.ts'
import { RunScreen } from './run/run.tsx'
import { Runs } from './runs/runs.tsx'
import { applySettings } from './settings.ts'
import { Shell } from './shell/shell.tsx'

applySettings()
listenToKeys()

function Screens() {
  return (
    <Switch>
      <Route path="/">
        <Redirect to="/runs" replace />
      </Route>
      <Route path="/runs" component={Runs} />
      <Route path="/runs/:id/:tab?">{({ id, tab }) => <RunScreen key={id} name={id} tab={tab} />}</Route>
      <Route path="/health" component={Health} />
      <Route>
        <Blank state="pending" title="There is no such page">
          <p>The address leads to no screen of this dashboard.</p>
        </Blank>
      </Route>
    </Switch>
  )
}

render(
  <QueryClientProvider client={client}>
    <Router base={BASE.slice(0, -1)}>
      <Shell>
        <Screens />
      </Shell>
    </Router>
  </QueryClientProvider>,
  document.getElementById('app')!,
)
