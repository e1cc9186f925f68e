import { test } from 'node:test';
import { eventually } from '../host/workbench/eventually.ts';
import { setStage, signedIn } from './stage.ts';

test('who has a token command is signed in as soon as the workspace is trusted, in the same window', async () => {
  const stage = await setStage({
    settings: (service) => ({ ...signedIn(service), 'security.workspace.trust.enabled': true }),
  });
  try {
    const workbench = await stage.openWindow();
    await workbench.openView('Whitebox Assessment');
    const says = (part: string): Promise<string> =>
      eventually(
        () => workbench.viewText('Runs'),
        (text) => text.includes(part),
      );
    await says('Restricted Mode');
    await workbench.trustWorkspace();
    await says('No assessment has been started yet');
  } finally {
    await stage.dispose();
  }
});
