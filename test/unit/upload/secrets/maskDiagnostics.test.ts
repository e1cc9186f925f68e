import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maskDiagnostics } from '../../../../src/core/upload/secrets/maskDiagnostics.ts';

const workerFile = new URL('../../../../src/core/upload/secrets/secretWorker.ts', import.meta.url);

const accounts = [
  { baseUrl: 'https://assess.invented.test:8443/v1', organizationId: 'org/invented 7' },
  { baseUrl: 'https://bücher.invented.test', organizationId: 'other-invented' },
];
const names = {
  linux: {
    home: '/home/alice',
    folders: [
      { path: '/home/alice/shop', shown: '[shop]' },
      { path: '/srv/alice-client/api', shown: '[folder of a run]' },
      { path: '/alicework', shown: '[folder of a run]' },
    ],
    accounts,
  },
  windows: {
    home: 'C:\\Users\\Alice Ito',
    folders: [{ path: 'D:\\Alice\\shop', shown: '[shop]' }],
    accounts,
  },
  mac: { home: '/Users/Alicé', folders: [], accounts },
  root: { home: '/', folders: [{ path: 'C:\\', shown: '[x]' }], accounts: [] },
};

const forms: readonly (readonly [system: keyof typeof names, text: string, shown: string])[] = [
  ['linux', 'ENOENT: /home/alice/.cache/x', 'ENOENT: ~/.cache/x'],
  ['linux', 'in /HOME/Alice.', 'in ~.'],
  ['linux', '"\\/home\\/alice\\/x"', '"~\\/x"'],
  ['linux', 'file:///home/alice/x', 'file:~/x'],
  ['linux', 'file%3A%2F%2F%2Fhome%2Falice%2Fx', 'file:~/x'],
  ['linux', '\\\\wsl$\\Ubuntu\\home\\alice\\x', '\\\\wsl$\\Ubuntu~\\x'],
  ['linux', '//wsl.localhost/Ubuntu/home/alice/x', '//wsl.localhost/Ubuntu~/x'],
  ['linux', '/mnt/c/Users/Alice/x', '/mnt/c~/x'],
  ['linux', 'C:\\Users\\ALICE~1\\AppData', '~\\AppData'],
  ['linux', 'another home: /home/alice.old/x', 'another home: ~.old/x'],
  ['windows', 'C:\\Users\\Alice Ito\\x', '~\\x'],
  ['windows', 'c:\\users\\alice ito\\x', '~\\x'],
  ['windows', 'C:/Users/Alice Ito/x', '~/x'],
  ['windows', '{"path":"C:\\\\Users\\\\Alice Ito\\\\x"}', '{"path":"~\\\\x"}'],
  ['windows', '{\\"path\\":\\"C:\\\\\\\\Users\\\\\\\\Alice Ito\\\\\\\\x\\"}', '{\\"path\\":\\"~\\\\\\\\x\\"}'],
  ['windows', 'file:///c%3A/Users/Alice%20Ito/x', 'file:///~/x'],
  ['windows', '/mnt/c/Users/Alice Ito/x', '/mnt/c~/x'],
  ['windows', '\\\\?\\C:\\Users\\Alice Ito\\x', '\\\\?\\~\\x'],
  ['windows', '\\\\pc\\C$\\Users\\Alice Ito', '\\\\pc\\~'],
  ['windows', 'C:\\Users\\ALICEI~1\\x', '~\\x'],
  ['windows', 'C:\\Documents and Settings\\Alice Ito\\x', '~\\x'],
  ['mac', `/Users/${'Alicé'.normalize('NFD')}/x`, '~/x'],
  ['mac', '/Users/Alic%C3%A9/x', '~/x'],
  ['mac', '"/Users/Alic\\u00e9/x"', '"~/x"'],
  ['linux', '/home/alice/shop/src/a.js', '[shop]/src/a.js'],
  ['linux', '/home/alice/shop2', '~/shop2'],
  ['linux', 'kept for /srv/alice-client/api:', 'kept for [folder of a run]:'],
  ['linux', '/srv/alice%2dclient/api', '[folder of a run]'],
  ['linux', '/alicework/x', '[folder of a run]/x'],
  ['windows', 'd:/alice/shop/x', '[shop]/x'],
  ['linux', 'https://assess.invented.test:8443/v1', '[service]/v1'],
  ['linux', 'getaddrinfo ENOTFOUND assess.invented.test', 'getaddrinfo ENOTFOUND [service]'],
  ['linux', 'Host: ASSESS.Invented.Test:8443', 'Host: [service]'],
  ['linux', 'files.assess.invented.test.', '[service]'],
  ['linux', 'to=https%3A%2F%2Fassess.invented.test%3A8443%2Fv1', 'to=[service]/v1'],
  ['linux', '"https:\\/\\/assess.invented.test"', '"[service]"'],
  ['linux', 'cert of xn--bcher-kva.invented.test and bücher.invented.test', 'cert of [service] and [service]'],
  ['linux', 'of org/invented 7, Other-Invented', 'of [organization], [organization]'],
  ['linux', '/organizations/org%2Finvented%207/x', '/organizations/[organization]/x'],
  ['linux', 'Authorization: Bearer alice', 'Authorization: Bearer …'],
  ['linux', '{"authorization":"bearer alice:x/y=="}', '{"authorization":"Bearer …"}'],
  ['linux', 'Authorization=Bearer%20alice&x', 'Authorization=Bearer …'],
  ['linux', 'proxy-authorization: Basic YWxpY2U6YWxpY2U=', 'proxy-authorization: Bearer …'],
  // Nothing private is masked here.
  ['root', '/usr/lib C:\\Windows D:\\ a.b', '/usr/lib C:\\Windows D:\\ a.b'],
  ['linux', 'home/aliceX alicework.js bearer', 'home/aliceX alicework.js bearer'],
]; // prettier-ignore

test(`F189 home folder, folders, service, organization, and tokens are masked in ${String(forms.length)} forms`, async () => {
  for (const [system, text, shown] of forms)
    assert.deepEqual(await maskDiagnostics([['a', text], ['z']], names[system], workerFile), [['a', shown], ['z']]); // prettier-ignore
});
