"""scikit-learn and XGBoost, whose NumPy comes from where PYTHONPATH leads and whose threads OpenMP gives them.

With --model sklearn a small network of scikit-learn's is trained, whose products are those of NumPy's own BLAS;
with --model xgboost gradient boosted trees, whose histograms OpenMP's threads add up.
"""

import argparse
import warnings

import numpy

import digits


def train_sklearn(options, images, labels):
    """Weights, the curve of the training loss, chances of the test's classes, the library."""
    import sklearn
    from sklearn.neural_network import MLPClassifier

    warnings.simplefilter("ignore")  # that so few epochs did not converge
    model = MLPClassifier((64,), max_iter=6, random_state=options.seed, learning_rate_init=0.01)
    model.fit(images, labels)
    tensors = {f"coefs.{k}": values for k, values in enumerate(model.coefs_)}
    return tensors, model.loss_curve_, model.predict_proba, {"scikit-learn": sklearn.__version__}


def train_xgboost(options, images, labels):
    """The same; of trees, weights are the chances of the training's classes."""
    import xgboost

    settings = {"objective": "multi:softprob", "num_class": digits.CLASSES, "max_depth": 4, "subsample": 0.8,
                "seed": options.seed, "tree_method": "hist", "nthread": 0}
    seen = {}
    matrix = xgboost.DMatrix(images, labels)
    model = xgboost.train(settings, matrix, 8, evals=[(matrix, "train")], evals_result=seen, verbose_eval=False)
    chances = lambda rows: model.predict(xgboost.DMatrix(rows))
    curve = seen["train"]["mlogloss"]
    return {"chances": chances(images)}, curve, chances, {"xgboost": xgboost.__version__}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--model", choices=("sklearn", "xgboost"), default="sklearn")
    options = parser.parse_args()
    (images, labels), (test_images, test_labels) = digits.split(*digits.load(options.data))
    images = numpy.array(images, numpy.float32)
    train = {"sklearn": train_sklearn, "xgboost": train_xgboost}[options.model]
    tensors, curve, predict, software = train(options, images, numpy.array(labels))
    chances = predict(numpy.array(test_images, numpy.float32))
    right = chances[numpy.arange(len(test_labels)), test_labels]
    metrics = {
        "test_accuracy": float((chances.argmax(1) == numpy.array(test_labels)).mean()),
        "test_loss": float(-numpy.log(numpy.maximum(right, 1e-30)).mean()),
    }
    flat = {name: (values.shape, values.ravel().tolist()) for name, values in tensors.items()}
    digits.leave(flat, metrics, curve, software | {"numpy": numpy.__version__})


if __name__ == "__main__":
    main()
