// The Python programs that write models with the real scikit-learn, joblib, XGBoost, LightGBM,
// ONNX.
//
// Role: as framework_files.h, whose kExpectProgram comes before each.
#ifndef RHARNESS_TESTS_COMPARE_WEIGHTS_MODEL_FILES_H_
#define RHARNESS_TESTS_COMPARE_WEIGHTS_MODEL_FILES_H_

#include <string_view>

namespace rharness {

inline constexpr std::string_view kSklearnProgram = R"py(
try:
    import joblib, pickle
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler
except ImportError:
    sys.exit(77)
X = np.random.RandomState(0).rand(40, 3)
y = (X[:, 0] > .5).astype(int)
pipe = Pipeline([('scale', StandardScaler()), ('fit', LogisticRegression())]).fit(X, y)
forest = RandomForestClassifier(2, max_depth=2, random_state=0).fit(X, y)
boost = GradientBoostingClassifier(n_estimators=2, max_depth=2, random_state=0).fit(X, y)
def leaves(prefix, tree):
    state = tree.__getstate__() if hasattr(tree, '__getstate__') else tree.__reduce__()[2]
    out = {f'{prefix}/nodes/{f}': np.ascontiguousarray(state['nodes'][f]) for f in state['nodes'].dtype.names}
    out[f'{prefix}/values'] = state['values']
    return out
parts = {'a': np.arange(6).reshape(2, 3), 'f': np.asfortranarray(np.random.RandomState(1).rand(3, 4)),
         'b': np.arange(4).astype('>i4'), 'n': np.float32(1.5),
         's': np.zeros(2, dtype=[('x', 'f4'), ('y', 'i8')]), 't': np.array(['no', 'array'])}
flat = {k: v.astype(v.dtype.newbyteorder('<')) for k, v in parts.items() if k in 'afbn'}
flat['s/x'], flat['s/y'] = np.zeros(2, 'f4'), np.zeros(2, 'i8')
def write(name, model, arrays):
    files = [name + '.joblib', name + '.z.joblib', name + '.gz.joblib']
    joblib.dump(model, files[0]); joblib.dump(model, files[1], compress=3)
    joblib.dump(model, files[2], compress=('gzip', 3))
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        files.append(f'{name}.{protocol}.pkl')
        pickle.dump(model, open(files[-1], 'wb'), protocol=protocol)
    if arrays is not None:
        for file in files: expect(file, arrays)
    same(*files)
write('parts', parts, flat)
write('forest', forest, None)
joblib.dump(pipe, 'pipe.joblib')
scale, fit = pipe.steps[0][1], pipe.steps[1][1]
expected_some = open('some.txt', 'w')
def some(file, arrays):
    for i, (name, a) in enumerate(arrays.items()):
        open(f'{file}.some.{i}.bin', 'wb').write(np.ascontiguousarray(a).tobytes())
        expected_some.write(f'{file}\t{name}\n')
some('pipe.joblib', {'steps/scale/mean_': scale.mean_, 'steps/scale/var_': scale.var_,
                     'steps/fit/coef_': fit.coef_, 'steps/fit/intercept_': fit.intercept_,
                     'steps/fit/classes_': fit.classes_})
trees = {}
for i, t in enumerate(forest.estimators_): trees.update(leaves(f'estimators_/{i}/tree_', t.tree_))
some('forest.joblib', trees)
joblib.dump(boost, 'boost.joblib')
trees = {}
for i, t in enumerate(boost.estimators_.ravel()): trees.update(leaves(f'estimators_/{i}/tree_', t.tree_))
some('boost.joblib', trees)
)py";

// What the libraries say of their own trees, node by node, against the arrays of the files.
inline constexpr std::string_view kTreesProgram = R"py(
import json
some_txt = open('some.txt', 'w')
def some(file, arrays):
    for i, (name, a) in enumerate(arrays.items()):
        open(f'{file}.some.{i}.bin', 'wb').write(np.ascontiguousarray(a).tobytes())
        some_txt.write(f'{file}\t{name}\n')
X = np.random.RandomState(0).rand(80, 4)
y = (X[:, 0] + .3 * X[:, 1] > .6).astype(int)
wrote = False
try:
    import xgboost as xgb
    data = xgb.DMatrix(X, label=y)
    for name, more in {'tree': {'max_depth': 3}, 'dart': {'booster': 'dart', 'rate_drop': .5}, 'linear': {'booster': 'gblinear'}}.items():
        model = xgb.train({'objective': 'binary:logistic', **more}, data, 4)
        model.save_model(name + '.json'); model.save_model(name + '.ubj'); same(name + '.json', name + '.ubj')
        if name == 'linear': continue
        features, children = [], []
        for text in model.get_dump(dump_format='json'):
            nodes, stack = {}, [json.loads(text)]
            while stack:
                node = stack.pop(); nodes[node['nodeid']] = node; stack += node.get('children', [])
            for i in range(len(nodes)):
                features.append(int(str(nodes[i].get('split', '0')).lstrip('f')))
                children.append(nodes[i].get('yes', -1))
        some(name + '.ubj', {'trees/split_indices': np.array(features, 'i4'), 'trees/left_children': np.array(children, 'i4')})
    wrote = True
except ImportError:
    pass
try:
    import lightgbm as lgb
    model = lgb.train({'objective': 'binary', 'num_leaves': 5, 'verbose': -1, 'min_data_in_leaf': 2}, lgb.Dataset(X, y), 4)
    model.save_model('light.txt')
    values, splits = [], []
    for tree in model.dump_model()['tree_info']:
        leaf, split, stack = {}, {}, [tree['tree_structure']]
        while stack:
            node = stack.pop()
            if 'leaf_index' in node: leaf[node['leaf_index']] = node['leaf_value']
            if 'split_index' in node:
                split[node['split_index']] = node['split_feature']
                stack += [node['left_child'], node['right_child']]
        values += [leaf[i] for i in range(len(leaf))]; splits += [split[i] for i in range(len(split))]
    some('light.txt', {'trees/leaf_value': np.array(values, 'f8'), 'trees/split_feature': np.array(splits, 'i4')})
    wrote = True
except ImportError:
    pass
if not wrote: sys.exit(77)
)py";

inline constexpr std::string_view kOnnxProgram = R"py(
try:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    sys.exit(77)
random = np.random.RandomState(1)
arrays = {n: (random.rand(3, 4) * 50).astype(n) for n in names if n[0] != 'c' and n[:2] not in ('bf', 'fl')}
arrays.update({n: (random.rand(3, 4) * 50).astype(n) for n in ('float16', 'float32', 'float64')})
def typed(name, a):
    kind = helper.np_dtype_to_tensor_dtype(a.dtype)
    return helper.make_tensor(name, kind, a.shape, a.flatten().tolist())
def model(tensors):
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [3, 4])
    node = helper.make_node('Add', ['x', 'float32'], ['y'], name='add')
    graph = helper.make_graph([node], 'g', [value('x')], [value('y')], initializer=tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)])
def raw(): return [numpy_helper.from_array(a, n) for n, a in arrays.items()]
onnx.save(model(raw()), 'raw.onnx'); onnx.save(model([typed(n, a) for n, a in arrays.items()]), 'typed.onnx')
onnx.save_model(model(raw()), 'outside.onnx', save_as_external_data=True, location='outside.data', size_threshold=0)
for file in ('raw.onnx', 'typed.onnx', 'outside.onnx'):
    held = {t.name: numpy_helper.to_array(t) for t in onnx.load(file).graph.initializer}
    expect(file, held)
same('raw.onnx', 'typed.onnx', 'outside.onnx')
)py";

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_WEIGHTS_MODEL_FILES_H_
