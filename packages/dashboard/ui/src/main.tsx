import { QueryClientProvider } from '@tanstack/react-query'
import { render } from 'preact'
import { Redirect, Route, Router, Switch } from 'wouter'
import { Blank } from './answer.tsx'
import { BASE } from './api.ts'
import { Compare } from './compare/compare.tsx'
import { Health } from './health/health.tsx'
import { listenToKeys } from './keys.ts'
import { Limits } from './limits/limits.tsx'
import { client } from './live.ts'
import { Needs } from './needs/needs.tsx'
import { Repairs } from './repairs/repairs.tsx'
import { Rollbacks } from './rollbacks/rollbacks.tsx'
import { RunScreen } from './run/run.tsx'
import { Runs } from './runs/runs.tsx'
import { Schedules } from './schedules/schedules.tsx'
import { applySettings } from './settings.ts'
import { Shell } from './shell/shell.tsx'
import { Versions } from './versions/versions.tsx'
import { Waiting } from './waiting/waiting.tsx'
import { Workers } from './workers/workers.tsx'

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
      <Route path="/needs" component={Needs} />
      <Route path="/rollbacks" component={Rollbacks} />
      <Route path="/waiting" component={Waiting} />
      <Route path="/repairs/:id?">{({ id }) => <Repairs key={id} id={id} />}</Route>
      <Route path="/versions/:name?">{({ name }) => <Versions key={name} name={name} />}</Route>
      <Route path="/schedules/:name?">{({ name }) => <Schedules key={name} name={name} />}</Route>
      <Route path="/limits" component={Limits} />
      <Route path="/workers" component={Workers} />
      <Route path="/compare" component={Compare} />
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
