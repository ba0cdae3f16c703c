import { Dialog } from '../dialog.tsx'
import { Icon } from '../icons.tsx'
import { KEYS } from '../keys.ts'
import { density, keys, theme, zone } from '../settings.ts'
import { type Cell, useCell } from '../stored.ts'

export function KeysDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog label="Keys" onClose={onClose}>
      <h2>Keys</h2>
      <dl class="keys">
        {KEYS.map(([key, does]) => (
          <div key={key}>
            <dt>{does}</dt>
            <dd>
              {key.split('  ').map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <p class="weak">Letters can be switched off under Display.</p>
      <Close onClose={onClose} />
    </Dialog>
  )
}

export function DisplayDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog label="Display" class="narrow" onClose={onClose}>
      <h2>Display</h2>
      <Choice name="Theme" setting={theme} choices={['system', 'light', 'dark']} />
      <Choice name="Density" setting={density} choices={['comfortable', 'compact']} />
      <Choice name="Times" setting={zone} choices={['local', 'UTC']} />
      <Choice name="Letter keys" setting={keys} choices={['on', 'off']} />
      <Close onClose={onClose} />
    </Dialog>
  )
}

interface ChoiceProps<T extends string> {
  readonly name: string
  readonly setting: Cell<T>
  readonly choices: readonly T[]
}

function Choice<T extends string>({ name, setting, choices }: ChoiceProps<T>) {
  const chosen = useCell(setting)
  return (
    <fieldset>
      <legend>{name}</legend>
      {choices.map((choice) => (
        <label key={choice}>
          <input type="radio" name={name} checked={choice === chosen} onChange={() => setting.set(choice)} />
          <span>{choice}</span>
        </label>
      ))}
    </fieldset>
  )
}

/** For those who have neither Esc nor a place beside the dialog to click on. The last in order, so that the first choice has the focus. */
function Close({ onClose }: { readonly onClose: () => void }) {
  return (
    <button type="button" class="quiet corner" aria-label="Close" onClick={onClose}>
      <Icon name="close" />
    </button>
  )
}
